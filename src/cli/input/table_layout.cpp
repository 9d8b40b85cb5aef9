// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <cctype>
#include <cmath>
#include <map>
#include <regex>

namespace scaleworth::cli {
namespace {
using toml_file::printable;
using Cells = std::vector<std::string>;

/// Blanks divide the cells: two or more, or tabs.
constexpr char by_blanks = ' ';
constexpr std::size_t most_titles = 20;  // lines above a header

/// A line of a Markdown, org or report table below or above which cells stand: "|---+---|", "====".
bool is_rule(std::string_view line) {
  return line.find_first_not_of("-=_+:| \t") == line.npos && line.find_first_of("-=_") != line.npos;
}

/// The lines with something in them, without rules and the fences of code.
std::vector<TextLine> lines_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<TextLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end), " \r\n");
    text.remove_prefix(std::min(end + 1, text.size()));
    // A diff, a quotation or a list before the bars.
    if (const std::size_t bar = line.find_first_not_of("+-> ");
        bar < line.size() && line[bar] == '|')
      line.remove_prefix(bar);
    const bool nothing = trimmed(line).empty() || is_rule(line) || line.starts_with("```") ||
                         line.starts_with("~~~") || line.starts_with("\\begin") ||
                         line.starts_with("\\end") ||
                         (line.starts_with('<') && line.ends_with('>'));
    if (!nothing) lines.push_back({number, line});
  }
  return lines;
}

/// What stands in most of the lines; blanks where nothing else does.
char separator_of(const std::vector<TextLine>& lines) {
  char separator = by_blanks;
  std::size_t most = 0;
  for (const char candidate : {'|', '\t', ';', ','}) {
    std::size_t with = 0;
    std::map<std::ptrdiff_t, std::size_t> lines_by_cells;
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 1000); ++i) {
      const bool comments = i + 1 < lines.size() && lines[i + 1].text.starts_with('#');
      if (lines[i].text.starts_with('#') && (i > 0 || comments)) continue;
      // Commas between two digits may belong to a number.
      const auto there = std::ranges::count(lines[i].text, candidate);
      if (there > 0) ++lines_by_cells[there];
    }
    for (const auto& [cells, count] : lines_by_cells) with = std::max(with, count);
    // One line with bars pipes commands.
    if (with > most || (candidate == '|' && with > 1)) {
      most = candidate == '|' && with > 1 ? lines.size() + 1 : with;
      separator = candidate;
    }
  }
  // Commas may be those of numbers in columns that blanks divide.
  const auto gaps = static_cast<std::size_t>(std::ranges::count_if(
      lines, [](const TextLine& line) { return line.text.find("  ") != std::string_view::npos; }));
  return separator == ',' && gaps > most ? by_blanks : separator;
}

Cells blank_cells(std::string_view line, std::size_t blanks) {
  Cells cells(1);
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && (line[end] == ' ' || line[end] == '\t')) ++end;
    if (end - i >= blanks && end < line.size()) {
      if (!cells.back().empty()) cells.emplace_back();
    } else {
      cells.back() += line.substr(i, end - i);
    }
    if (end < line.size()) cells.back() += line[end];
    i = end + 1;
  }
  // "1: 97 ns", "N=1 : 97 ns", "4 = 2.3"
  for (std::string& cell : cells) cell = trimmed(cell, cell.ends_with(':') ? ":=" : ":= ");
  std::erase(cells, "");
  // "Runtime (s)" is one cell.
  for (std::size_t i = 1; i < cells.size();) {
    const bool bracket = cells[i].starts_with('(') || cells[i].starts_with('[');
    const bool unit = header_words("time " + cells[i]).unit != nullptr;
    if (!bracket || cells[i - 1].starts_with('[') || (blanks > 1 && !unit)) {
      ++i;
      continue;
    }
    cells[i - 1] += " " + cells[i];
    cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return cells;
}

/// Where the cells of a header begin in its line, two blanks between them.
std::vector<std::size_t> starts_of(std::string_view header) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == ' ') continue;
    if (starts.empty() || header.substr(i - std::min<std::size_t>(i, 2), 2) == "  ")
      starts.push_back(i);
  }
  return starts;
}

/// Divides lines into cells.
class CellReader {
 public:
  CellReader(const std::vector<TextLine>& lines, std::string file)
      : file_(std::move(file)), separator_(separator_of(lines)) {
    const auto two_blanks = [](const TextLine& line) {
      return line.text.find("  ") != std::string_view::npos ||
             line.text.find('\t') != std::string_view::npos;
    };
    blanks_ = std::ranges::count_if(lines, two_blanks) * 2 >= std::ssize(lines) ? 2 : 1;
    const auto* const first = find_in(
        lines, true, [](const TextLine& line) { return line.text.find('|') != line.text.npos; });
    if (first && !first->text.starts_with('|')) bars_within_ = std::ranges::count(first->text, '|');
  }
  char separator() const { return separator_; }
  std::string place(const TextLine& line) const { return fmt::format("{}:{}", file_, line.number); }
  Cells cells(const TextLine& line) const {
    std::string_view text = line.text;
    if (separator_ == '|') {
      text = trimmed(text);
      // Where the header has none before its cells, a row that begins with one has an empty cell.
      if (text.starts_with('|') && std::ranges::count(text, '|') != bars_within_)
        text.remove_prefix(1);
      if (text.ends_with('|')) text.remove_suffix(1);
      text = trimmed(text, " ");
    }
    // A comment for CsvReader, which is a header here.
    if (text.starts_with('#')) text = trimmed(text.substr(1), " ");
    if (separator_ == by_blanks) return blank_cells(text, blanks_);
    CsvReader reader(text, file_, separator_);
    try {
      return reader.next().value_or(Cells{""});
    } catch (const UserError& error) {
      const std::string message = error.what();
      throw UserError(place(line) + message.substr(message.find(": ")));
    }
  }
  /// A printed data frame: rows of nothing but numbers, or which two blanks do not divide as the
  /// header, as many as the header has words, or one more, which numbers the rows. `rows` are those
  /// below the header.
  void read_as_frame(const TextLine& header, const std::vector<TextLine>& rows) {
    const std::size_t width = blank_cells(header.text, 1).size();
    std::size_t numbered = 0;
    const std::size_t divided = cells(header).size();
    const bool fits = std::ranges::all_of(
        rows, [&](const TextLine& row) { return cells(row).size() == divided; });
    for (const TextLine& row : rows) {
      const Cells words = blank_cells(row.text, 1);
      if (words.size() < 2) continue;
      const bool numbers = std::ranges::all_of(
          words, [](const auto& word) { return parse_number<double>(word).has_value(); });
      if ((!numbers && fits) || words.size() < width || words.size() > width + 1) return;
      const bool more = words.size() > width;
      const auto number = parse_number<std::size_t>(words.front());
      const std::size_t place = static_cast<std::size_t>(&row - rows.data());
      if (more && number != place && number != place + 1) return;
      numbered += more ? 1 : 0;
    }
    if (separator_ != by_blanks || width < 2 || (numbered > 0 && numbered < rows.size())) return;
    blanks_ = 1;
    numbered_ = numbered > 0;
  }
  /// A row's cells, without its number; at blanks where nothing else divides it into `columns`.
  Cells row_cells(const TextLine& line, std::size_t columns) const {
    Cells row = cells(line);
    if (row.size() == 1 && columns > 1)
      if (Cells words = blank_cells(line.text, 1); words.size() == columns) return words;
    if (numbered_) row.erase(row.begin());
    return row;
  }
  /// Of a row that lacks cells, by where those of the header begin; no word of it is cut.
  Cells aligned_cells(const TextLine& line, const std::vector<std::size_t>& starts) const {
    const std::string_view text = line.text;
    const auto begin = [&](std::size_t i) {
      std::size_t at = i < starts.size() ? std::min(starts[i], text.size()) : text.size();
      while (at > 0 && at < text.size() && text[at] != ' ' && text[at - 1] != ' ') --at;
      return at;
    };
    Cells cells;
    for (std::size_t i = 0; i < starts.size(); ++i)
      cells.emplace_back(trimmed(text.substr(begin(i), begin(i + 1) - begin(i))));
    return cells;
  }

 private:
  std::string file_;
  char separator_;
  std::size_t blanks_ = 2;
  std::ptrdiff_t bars_within_ = 0;  // of a header without a first bar
  bool numbered_ = false;           // rows of a data frame
};

std::size_t filled(const Cells& cells) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells, [](const std::string& cell) { return !cell.empty(); }));
}

bool is_measured(const std::string& cell) {
  return cell_number(cell, Comma::thousands).has_value();
}

/// A line that names a count, or several in numbers behind a name, and has no other number.
bool is_header(const Cells& cells) {
  int named = 0;
  for (const std::string& cell : cells) {
    // A Chinese name may have a number within.
    const bool number = static_cast<unsigned char>(cell[0]) < 0xE3 && is_measured(cell);
    const bool count = names_a_count(cell);
    if (number && (!count || &cell == &cells.front())) return false;
    named += !count ? 0 : number ? 1 : 2;
  }
  return filled(cells) > 1 && named > 1;
}

/// The first line that names a count, else the first whose cells mean anything, else the first with
/// two cells: above it stand titles.
std::size_t header_line(const std::vector<TextLine>& lines, const CellReader& reader) {
  std::optional<std::size_t> known;
  std::optional<std::size_t> divided;
  std::optional<std::size_t> odd;  // names a count, but has other cells than the line below it
  std::size_t counted = 0;         // rows below it, as "2 GPUs | 55 s"
  for (std::size_t i = 0; i < std::min(lines.size(), most_titles); ++i) {
    const bool comment = lines[i].text.starts_with('#') && reader.separator() != '|';
    const Cells cells = reader.cells(lines[i]);
    if (filled(cells) < 2) continue;
    if (odd && !comment && std::ranges::any_of(cells, is_measured)) break;
    // "CPU-4 | 0.229 | 436.1" is a row.
    const auto numbers = static_cast<std::size_t>(std::ranges::count_if(cells, is_measured));
    const bool named = std::ranges::any_of(cells, [&](const std::string& cell) {
      return names_a_count(cell) &&
             !(2 * numbers >= filled(cells) && !counts_said(cell, true).empty());
    });
    if (named || is_header(cells)) {
      const bool fits = i + 1 < lines.size() && reader.cells(lines[i + 1]).size() == cells.size();
      if (!odd) odd = counted > 1 ? *divided : i;
      if (fits) return counted > 1 ? *divided : i;
      continue;
    }
    if (comment) continue;
    const auto meant =
        std::ranges::count_if(mapped(cells, named_meaning), &std::optional<Meaning>::has_value);
    if (!known && meant > 1) known = i;
    const bool counts = !counts_said(cells.front(), true).empty() && has_digit(cells[1]);
    if (divided && counts && reader.separator() == '|') ++counted;
    if (!divided) divided = i;
  }
  return odd ? *odd : known.value_or(divided.value_or(0));
}

/// Whether a line below differs from the first in nothing but its numbers: then that is a row.
bool is_row(const std::vector<TextLine>& lines, std::size_t first) {
  static const std::regex number("[0-9]+(?:[.,:][0-9]+)*|s\\b");
  const auto words = [&](std::size_t i) {
    return std::regex_replace(std::string(lines[i].text.substr(0, longest_text)), number, "");
  };
  constexpr std::size_t most_kinds = 4;  // of rows, in turn
  for (std::size_t i = first + 1; i < std::min(lines.size(), first + 1 + most_kinds); ++i)
    if (lines[i].text != lines[first].text && words(i) == words(first)) return true;
  return false;
}

/// Whether the line heads a row of as many cells: between bars any, else names of which one counts.
bool begins_table(const Cells& names, const Cells& below, char separator) {
  if (filled(names) < 2) return false;
  // "1 threads | run 1/3 | 199.07 ms" is a line of a log.
  if (separator == '|')
    return below.size() == names.size() &&
           (names.front().empty() || names.front() != below.front());
  return (below.size() == names.size() || separator == by_blanks) &&
         std::ranges::any_of(below, is_measured) &&
         std::ranges::none_of(names,
                              [](const std::string& name) {
                                return is_measured(name) || name.find('=') != std::string::npos;
                              }) &&
         std::ranges::any_of(names, names_a_count);
}

/// "(s)", "[ms]", "tokens/s" below the names: a second line of the header.
bool are_units(const Cells& cells) {
  const auto is_unit = [](const std::string& cell) {
    if (cell.empty() || cell == "-") return true;
    if (cell.find_first_of("0123456789") != std::string::npos) return false;
    const bool bracket = cell.starts_with('(') || cell.starts_with('[');
    const auto column = bracket ? std::nullopt : table_column("time (" + cell + ")", "");
    return bracket || (column && !column->unit.empty()) || cell == "%" ||
           cell.find("/s") != std::string::npos;
  };
  return filled(cells) > 0 && std::ranges::all_of(cells, is_unit);
}

void join_units(Cells& names, const Cells& units) {
  for (std::size_t i = 0; i < std::min(names.size(), units.size()); ++i) {
    const std::string_view unit = trimmed(units[i], " ()[]-");
    if (!unit.empty() && units[i] != names[i]) names[i] += fmt::format(" ({})", unit);
  }
}

/// The same names stand in several columns, and what tells them apart below them: "kuza55".
bool are_further_names(Cells names, const Cells& below) {
  std::erase(names, "");
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end() &&
         std::ranges::none_of(below, [](const std::string& cell) {
           return is_measured(cell) && !names_a_count(cell);
         });
}

/// Empty cells to the left of the first full column, merged with what stands above them.
void fill_merged_cells(RawTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto empty = [&](const RawRow& row) {
      return std::holds_alternative<std::monostate>(row.cells[i]);
    };
    if (std::ranges::none_of(table.rows, empty) || empty(table.rows.front())) return;
    for (std::size_t row = 1; row < table.rows.size(); ++row)
      if (empty(table.rows[row])) table.rows[row].cells[i] = table.rows[row - 1].cells[i];
  }
}

[[noreturn]] void refuse_cells(const std::string& place,
                               std::size_t cells,
                               std::size_t columns,
                               char separator) {
  throw UserError(
      "{}: {} under a header of {}, divided at {}; quote a cell that has it, as \"133,333\"",
      place,
      counted(cells, "cell"),
      columns,
      separator == '\t'        ? "tabs"
      : separator == by_blanks ? "blanks"
                               : fmt::format("'{}'", separator));
}

/// Cells beyond the header that are empty are none; a Markdown row may lack its last ones.
void fit_cells(Cells& cells, std::size_t columns, char separator, const std::string& place) {
  // "113  !"
  const auto says = [](const std::string& cell) {
    return std::ranges::any_of(cell, [](unsigned char c) { return std::isalnum(c) != 0; });
  };
  while (cells.size() > columns && !says(cells.back())) cells.pop_back();
  const bool may_lack = separator == '|' || separator == by_blanks;
  if (cells.size() < columns && may_lack) cells.resize(columns);
  if (cells.size() != columns) refuse_cells(place, cells.size(), columns, separator);
}

/// "Total", "average": a row below the counts.
bool is_summary(const Cells& cells) {
  const auto first = std::ranges::find_if(cells, [](const auto& cell) { return !cell.empty(); });
  if (first == cells.end()) return false;
  return is_word("summary", lower_case(trimmed(*first, " *_:")));
}

/// "ns/op", where that stands behind the number in most cells of a column.
std::optional<std::string> name_behind_numbers(const Cells& cells) {
  std::map<std::string, std::size_t> names;
  for (const std::string& one : cells) {
    const std::string cell(trimmed(one));
    if (const std::size_t blank = cell.find(' '); blank != std::string::npos && is_measured(cell))
      ++names[std::string(trimmed(cell.substr(blank)))];
  }
  for (const auto& [name, count] : names)
    if (2 * count > cells.size()) return name;
  return std::nullopt;
}

/// Names that stand twice, by what stands above them, which may be merged over several, else by
/// numbers.
void tell_apart(Cells& names, const Cells& above) {
  const bool merged =
      above.size() == names.size() && filled(above) > 1 && std::ranges::none_of(above, is_measured);
  std::map<std::string, int> seen;
  for (const std::string& name : names) ++seen[name];
  std::string group;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (merged && !above[i].empty()) group = above[i];
    if (seen[names[i]] < 2 || names[i].empty()) continue;
    names[i] =
        merged && !group.empty() ? group + " " + names[i] : fmt::format("{} ({})", names[i], i + 1);
  }
}

/// The table whose header is the line `first`, or which begins there without one.
RawTable table_below(const std::vector<TextLine>& lines,
                     std::size_t first,
                     CellReader reader,
                     const std::string& file) {
  const std::vector<TextLine> below(lines.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                                    lines.end());
  reader.read_as_frame(lines[first], below);
  RawTable table{
      file, reader.place(lines[first]), reader.cells(lines[first]), {}, reader.separator()};
  if (table.columns.size() == 1)
    throw UserError("{}: no comma, semicolon, tab or | divides '{}' into columns; write p,time_s",
                    table.place,
                    printable(table.columns.front()));
  check_column_count(table.columns.size(), table.place);
  // Numbers from the first line on: columns without names; behind a first name no counts.
  const auto fraction = [](const std::string& cell) {
    return std::fmod(cell_number(cell, Comma::thousands).value_or(CellNumber{}).value, 1.0) != 0.0;
  };
  const auto measured = std::ranges::count_if(table.columns, is_measured);
  const auto names = std::ssize(table.columns) - measured;
  const auto is_quantity = [](const std::string& cell) {  // "3.78 s"
    return cell_number(cell, Comma::thousands).value_or(CellNumber{}).unit != nullptr;
  };
  const bool unnamed = std::ranges::any_of(table.columns, is_quantity) ||
                       (measured > 0 && names == 0) ||
                       (measured > 1 && names == 1 && std::ranges::any_of(table.columns, fraction));
  for (std::size_t i = 0; unnamed && i < table.columns.size(); ++i) {
    const auto name = name_behind_numbers(mapped(below, [&](const TextLine& line) {
      const Cells cells = reader.cells(line);
      return i < cells.size() ? cells[i] : "";
    }));
    const auto before = table.columns.begin() + static_cast<std::ptrdiff_t>(i);
    const bool taken = !name || std::find(table.columns.begin(), before, *name) != before;
    table.columns[i] = taken ? fmt::format("column {}", i + 1) : *name;
  }
  if (!unnamed && first > 0) tell_apart(table.columns, reader.cells(lines[first - 1]));
  while (table.separator != '|' && table.columns.size() > 1 && table.columns.back().empty() &&
         std::ranges::all_of(below, [&](const TextLine& line) {
           return reader.cells(line).size() < table.columns.size() ||
                  reader.cells(line).back().empty();
         }))
    table.columns.pop_back();
  const std::vector<std::size_t> starts =
      table.separator == by_blanks ? starts_of(lines[first].text) : std::vector<std::size_t>{};
  for (std::size_t i = unnamed ? first : first + 1; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    if (line.text.starts_with('#')) continue;
    check_row_count(table.rows.size(), reader.place(line));
    Cells cells = reader.row_cells(line, table.columns.size());
    if (i == first + 1 && !unnamed &&
        (are_units(cells) || are_further_names(table.columns, cells))) {
      join_units(table.columns, cells);
      continue;
    }
    if (is_summary(cells)) {
      table.left_out.push_back(printable(cells.front()));
      continue;
    }
    // A heading between the rows, or a note below them.
    const bool lone = filled(cells) < 2 && table.columns.size() > 2;
    if (lone || (cells.size() == 1 && table.separator == '|')) continue;
    if (table.separator == by_blanks && cells.size() != table.columns.size() &&
        starts.size() == table.columns.size())
      cells = reader.aligned_cells(line, starts);
    // Below columns without names "PASS" and "ok x 12.3s" are no rows.
    const bool lacks = unnamed && table.separator == '\t';
    fit_cells(cells, table.columns.size(), lacks ? by_blanks : table.separator, reader.place(line));
    RawRow row{reader.place(line), {}};
    for (std::string& cell : cells)
      row.cells.push_back(cell.empty() ? RawCell{} : RawCell{std::move(cell)});
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    throw UserError(file + ": no rows below the header; give one line per count");
  }
  fill_merged_cells(table);
  return table;
}
}  // namespace

void append(RawTable& table, const RawTable& other) {
  std::vector<std::size_t> places;
  for (const std::string& name : other.columns) {
    const auto found = std::ranges::find(table.columns, name);
    places.push_back(static_cast<std::size_t>(found - table.columns.begin()));
    if (found == table.columns.end()) table.columns.push_back(name);
  }
  for (const RawRow& row : other.rows) {
    RawRow& added = table.rows.emplace_back(RawRow{row.place, {}});
    added.cells.resize(table.columns.size());
    for (std::size_t i = 0; i < places.size(); ++i) added.cells[places[i]] = row.cells[i];
  }
  for (RawRow& row : table.rows) row.cells.resize(table.columns.size());
  table.left_out.insert(table.left_out.end(), other.left_out.begin(), other.left_out.end());
}

std::vector<RawTable> last_resorts(std::string_view text, const std::string& file) {
  const std::string plain = with_plain_bars(text);
  const std::vector<TextLine> lines = lines_of(plain);
  return {rows_of_numbers(lines, file), numbered_text(lines, file)};
}

RawTable read_cells(std::string_view text, const std::string& file) {
  const std::string plain = with_plain_bars(text);
  const std::vector<TextLine> lines = lines_of(plain);
  if (lines.empty())
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  const CellReader reader(lines, file);
  const std::size_t first = header_line(lines, reader);
  const Cells names = reader.cells(lines[first]);
  RawTable said = running_text(lines, file);
  const std::size_t next = std::min(first + 1, lines.size() - 1);
  if (!said.columns.empty() &&
      (is_row(lines, first) || !begins_table(names, reader.cells(lines[next]), reader.separator())))
    return said;
  RawTable table;
  try {
    table = table_below(lines, first, reader, file);
  } catch (const UserError&) {
    if (said.columns.empty()) said = numbered_text(lines, file);
    if (said.columns.empty()) throw;
    return said;
  }
  const std::string_view above = first > 0 ? lines[first - 1].text : "";
  const bool rows = std::ranges::any_of(reader.cells({0, above}), is_measured);
  if (!rows || above.starts_with('#')) table.title = trimmed(above, " #*:|");
  table = with_named_values(std::move(table));
  if (std::ranges::none_of(counts_as_rows(table).columns, names_a_count))
    if (RawTable numbered = numbered_text(lines, file); !numbered.columns.empty()) return numbered;
  return table;
}
}  // namespace scaleworth::cli
