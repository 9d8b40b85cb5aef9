// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"

namespace scaleworth {
std::string_view trimmed(std::string_view text, std::string_view blank) {
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

namespace {
/// Tabs are no blanks where they separate.
std::string_view without_blanks(std::string_view text, char separator) {
  return trimmed(text, separator == '\t' ? " \r\n" : " \t\r\n");
}
}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  line += '\n';
  return line;
}

std::vector<std::string_view> words_between(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    if (end > start) words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

CsvReader::CsvReader(std::string_view text, std::string file, char separator)
    : rest_(text), file_(std::move(file)), separator_(separator) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

std::optional<std::vector<std::string>> CsvReader::next() {
  while (!rest_.empty()) {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = without_blanks(rest_.substr(0, end), separator_);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (trimmed(line).empty() || line.front() == '#') continue;
    std::vector<std::string> cells;
    while (true) {
      cells.push_back(take_cell(line));
      if (line.empty()) return cells;
      line.remove_prefix(1);
    }
  }
  return std::nullopt;
}

/// One cell from the front of `rest`, which is shortened to the separator behind it.
std::string CsvReader::take_cell(std::string_view& rest) const {
  rest = without_blanks(rest, separator_);
  std::string cell;
  if (!rest.starts_with('"')) {
    const std::size_t end = std::min(rest.find(separator_), rest.size());
    cell = trimmed(rest.substr(0, end));
    rest.remove_prefix(end);
    return cell;
  }
  std::size_t at = 1;
  for (;; ++at) {
    if (at >= rest.size()) throw error("a quoted cell has no closing quote");
    if (rest[at] != '"') {
      cell += rest[at];
    } else if (rest.substr(at + 1).starts_with('"')) {
      cell += rest[at++];
    } else {
      break;
    }
  }
  rest = without_blanks(rest.substr(at + 1), separator_);
  if (!rest.empty() && rest.front() != separator_)
    throw error(fmt::format("'{}' is missing behind a quoted cell", separator_));
  return cell;
}
}  // namespace scaleworth
