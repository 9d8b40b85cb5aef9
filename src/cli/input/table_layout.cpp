// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <cctype>
#include <map>

namespace scaleworth::cli {
namespace {
using toml_file::printable;
using Cells = std::vector<std::string>;

/// Blanks divide the cells: two or more, or tabs.
constexpr char by_blanks = ' ';
constexpr std::size_t most_titles = 20;  // lines above a header

struct Line {
  std::size_t number = 0;  // from 1 on
  std::string_view text;   // trimmed but for tabs
};

/// A line of a Markdown, org or report table below or above which cells stand: "|---+---|", "====".
bool is_rule(std::string_view line) {
  // Box characters are E2 94 80 to E2 95 BF.
  static const std::string frame = [] {
    std::string bytes = "-=_+:| \t\xE2\x94\x95";
    for (int last = 0x80; last < 0xC0; ++last) bytes += static_cast<char>(last);
    return bytes;
  }();
  return line.find_first_not_of(frame) == std::string_view::npos &&
         line.find_first_of("-=_\xE2") != std::string_view::npos;
}

/// Bars of a frame that is drawn with box characters are plain ones.
std::string with_plain_bars(std::string_view text) {
  std::string plain(text);
  for (const char* bar : {"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91"})
    for (std::size_t at = plain.find(bar); at != std::string::npos; at = plain.find(bar, at))
      plain.replace(at, 3, "|");
  return plain;
}

/// The lines with something in them, without rules and the fences of code.
std::vector<Line> lines_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<Line> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), " \r\n");
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool nothing = trimmed(line).empty() || is_rule(line) || line.starts_with("```");
    if (!nothing) lines.push_back({number, line});
  }
  return lines;
}

/// What stands in most of the lines; blanks where nothing else does.
char separator_of(const std::vector<Line>& lines) {
  char separator = by_blanks;
  std::size_t most = 0;
  for (const char candidate : {'|', '\t', ';', ','}) {
    std::size_t with = 0;
    std::map<std::ptrdiff_t, std::size_t> lines_by_cells;
    for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 1000); ++i) {
      if (lines[i].text.starts_with('#') && i > 0) continue;
      // Commas between two digits may belong to a number.
      const auto there = std::ranges::count(lines[i].text, candidate);
      if (there > 0) ++lines_by_cells[there];
    }
    for (const auto& [cells, count] : lines_by_cells) with = std::max(with, count);
    const bool bars = candidate == '|' && !lines_by_cells.empty();
    if (with > most || (bars && with > 0)) {
      most = bars ? lines.size() + 1 : with;
      separator = candidate;
    }
  }
  // Commas may be those of numbers in columns that blanks divide.
  const auto gaps = static_cast<std::size_t>(std::ranges::count_if(
      lines, [](const Line& line) { return line.text.find("  ") != std::string_view::npos; }));
  return separator == ',' && gaps > most ? by_blanks : separator;
}

/// Cells at two or more blanks, or at every blank where the lines have none.
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
  // "Runtime (s)" is one cell.
  for (std::size_t i = 1; blanks == 1 && i < cells.size();) {
    const bool bracket = cells[i].starts_with('(') || cells[i].starts_with('[');
    if (!bracket) {
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

bool is_known(const std::string& name) {
  return named_meaning(name).has_value();
}

/// Divides lines into cells.
class CellReader {
 public:
  CellReader(const std::vector<Line>& lines, std::string file)
      : file_(std::move(file)), separator_(separator_of(lines)) {
    const auto two_blanks = [](const Line& line) {
      return line.text.find("  ") != std::string_view::npos ||
             line.text.find('\t') != std::string_view::npos;
    };
    blanks_ = std::ranges::count_if(lines, two_blanks) * 2 >= std::ssize(lines) ? 2 : 1;
  }
  char separator() const { return separator_; }
  std::string place(const Line& line) const { return fmt::format("{}:{}", file_, line.number); }
  Cells cells(const Line& line) const {
    std::string_view text = line.text;
    if (separator_ == '|') {
      text = trimmed(text);
      if (text.starts_with('|')) text.remove_prefix(1);
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
  /// Of a row that lacks cells, by where those of the header begin.
  Cells aligned_cells(const Line& line, const std::vector<std::size_t>& starts) const {
    Cells cells;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t from = std::min(starts[i], line.text.size());
      const std::size_t to = i + 1 < starts.size() ? starts[i + 1] : std::string_view::npos;
      cells.emplace_back(
          trimmed(line.text.substr(from, to == std::string_view::npos ? to : to - from)));
    }
    return cells;
  }

 private:
  std::string file_;
  char separator_;
  std::size_t blanks_ = 2;
};

std::size_t filled(const Cells& cells) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells, [](const std::string& cell) { return !cell.empty(); }));
}

/// A number, or one with a unit: "3.78 s".
bool is_measured(const std::string& cell) {
  const auto number = cell_number(cell, Comma::thousands);
  return parse_number<double>(cell) || (number && number->unit);
}

/// The first line that names a count, else the first whose cells mean anything, else the first with
/// two cells: above it stand titles.
std::size_t header_line(const std::vector<Line>& lines, const CellReader& reader) {
  std::optional<std::size_t> known;
  std::optional<std::size_t> divided;
  for (std::size_t i = 0; i < std::min(lines.size(), most_titles); ++i) {
    const bool comment = lines[i].text.starts_with('#');
    const Cells cells = reader.cells(lines[i]);
    if (filled(cells) < 2) continue;
    // "CPU-4 | 0.229 | 436.1" is a row.
    const auto numbers = static_cast<std::size_t>(std::ranges::count_if(cells, is_measured));
    const bool named = std::ranges::any_of(cells, [&](const std::string& cell) {
      const bool digits = cell.find_first_of("0123456789") != std::string::npos;
      return names_a_count(cell) && !(digits && 2 * numbers >= filled(cells));
    });
    if (named) return i;
    if (comment) continue;
    if (!known && std::ranges::count_if(cells, is_known) > 1) known = i;
    if (!divided) divided = i;
  }
  return known.value_or(divided.value_or(0));
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
    if (!unit.empty()) names[i] += fmt::format(" ({})", unit);
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
  while (cells.size() > columns && cells.back().empty()) cells.pop_back();
  const bool may_lack = separator == '|' || separator == by_blanks;
  if (cells.size() < columns && may_lack) cells.resize(columns);
  if (cells.size() != columns) refuse_cells(place, cells.size(), columns, separator);
}

/// "Total", "average": a row below the counts.
bool is_summary(const Cells& cells) {
  const auto first = std::ranges::find_if(cells, [](const auto& cell) { return !cell.empty(); });
  if (first == cells.end()) return false;
  std::string word;
  for (const char c : trimmed(*first, " *_:"))
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return is_word("summary", word);
}

/// "4" of "4 cards (tokens/s)" with "(tokens/s)" as the rest; 1 of "single device".
struct CountInHeader {
  std::string count;
  std::string noun;
  std::string rest;
};

std::optional<CountInHeader> count_in(const std::string& header) {
  std::string_view text = trimmed(header, " *`");
  CountInHeader found;
  const auto word = [&] {
    text = trimmed(text, " -_x");
    std::size_t end = 0;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end]))) ++end;
    std::string lower;
    for (const char c : text.substr(0, end))
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return std::pair(lower, end);
  };
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0)
    ++digits;
  if (digits > 0) {
    found.count = text.substr(0, digits);
    text.remove_prefix(digits);
    // "4*8": nodes and what each has.
    const std::string_view other = text.empty() ? text : trimmed(text.substr(1));
    const auto nodes = parse_number<int>(found.count);
    const auto each = parse_number<int>(other);
    if (!text.empty() && std::string_view("*x").find(text.front()) != std::string_view::npos &&
        nodes && each && *nodes < 100000 && *each < 100000) {
      found.count = std::to_string(std::int64_t{*nodes} * *each);
      return found;
    }
  } else if (const auto [first, end] = word(); first == "single" || first == "one") {
    found.count = "1";
    text.remove_prefix(end);
  } else if (!counted_noun(first).empty() || first == "n" || first == "p" || first == "x" ||
             first == "omp" || first == "openmp" || first == "mpi") {
    // "GPUs=4", "n = 4", "x4", "omp-4"
    std::string_view behind = trimmed(text.substr(end), " =:-_");
    if (behind.empty() || behind.find_first_not_of("0123456789") != std::string_view::npos ||
        behind.size() == text.size())
      return std::nullopt;
    found.count = behind;
    found.noun = counted_noun(first).empty() ? "" : first;
    return found;
  } else {
    return std::nullopt;
  }
  const auto [noun, end] = word();
  const bool model = noun.size() < 2;  // "8xA100" and "8 A100 GPUs" are no counts of cards alone
  if (!noun.empty() && (model || counted_noun(noun).empty())) return std::nullopt;
  if (digits > 0 && noun.empty() && !trimmed(text).empty()) return std::nullopt;
  found.noun = noun;
  text = trimmed(text, " -_x");
  found.rest = trimmed(text.substr(noun.empty() ? 0 : end));
  return found;
}

/// Every column but the first is a count, and the rows are named by what they are: a table on its
/// side.
bool lies_on_its_side(const RawTable& table) {
  std::size_t known = 0;
  for (const RawRow& row : table.rows) known += is_known(cell_text(row.cells.front())) ? 1 : 0;
  return known > 0;
}

RawTable turned(const RawTable& table, const std::vector<std::optional<CountInHeader>>& counts) {
  RawTable result{table.file, table.place, {}, {}, table.separator};
  const auto noun =
      std::ranges::find_if(counts, [](const auto& count) { return count && !count->noun.empty(); });
  const std::string& corner = table.columns.front();
  result.columns = {noun != counts.end()    ? (*noun)->noun
                    : names_a_count(corner) ? corner
                                            : "count"};
  for (const RawRow& row : table.rows) result.columns.push_back(cell_text(row.cells.front()));
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    RawRow row{table.place, {counts[i]->count}};
    for (const RawRow& from : table.rows) row.cells.push_back(from.cells[i]);
    result.rows.push_back(std::move(row));
  }
  return result;
}
}  // namespace

std::optional<Meaning> named_meaning(const std::string& header) {
  try {
    const auto column = table_column(header, "");
    return column ? std::optional(column->meaning) : std::nullopt;
  } catch (const UserError&) {
    return Meaning::energy;  // "mj", mega or milli
  }
}

bool names_a_count(const std::string& header) {
  return named_meaning(header) == Meaning::count;
}

std::string named_by_cells(const std::vector<RawCell>& cells) {
  bool times = true;
  bool rates = true;
  bool ratios = true;
  bool none = true;
  for (const RawCell& cell : cells) {
    const std::string text = plain_text(cell_text(cell));
    if (is_missing(cell) || text.empty()) continue;
    none = false;
    const auto number = cell_number(text, Comma::thousands);
    times = times && number && number->unit && number->unit->dimension == Dimension::time;
    rates = rates && text.find("/s") != std::string::npos;
    ratios = ratios && text.ends_with('x');
  }
  return none ? "value" : times ? "time" : rates ? "throughput" : ratios ? "speedup" : "value";
}

RawTable counts_as_rows(RawTable table) {
  const auto counts = mapped(table.columns, count_in);
  const auto in_header =
      std::ranges::count_if(counts, [](const auto& count) { return count.has_value(); });
  const bool has_count = std::ranges::any_of(table.columns, [](const std::string& name) {
    return names_a_count(name) && !count_in(name);
  });
  if (in_header < 2 || static_cast<std::size_t>(in_header) == table.columns.size()) return table;
  const bool all_but_first =
      !counts.front() && static_cast<std::size_t>(in_header) + 1 == table.columns.size();
  if (all_but_first && lies_on_its_side(table)) return turned(table, counts);
  if (has_count && !(all_but_first && names_a_count(table.columns.front()))) return table;
  // Each row becomes one of each count, with a column of each thing that is told of counts.
  RawTable result{table.file, table.place, {}, {}, table.separator};
  std::vector<std::size_t> kept;
  std::vector<std::string> rests;
  std::vector<std::string> order;
  std::string noun = "count";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) {
      kept.push_back(i);
      const bool corner = i == 0 && names_a_count(table.columns[i]);
      result.columns.push_back(corner ? "row" : table.columns[i]);
      continue;
    }
    if (!counts[i]->noun.empty()) noun = counts[i]->noun;
    if (std::ranges::count(rests, counts[i]->rest) == 0) rests.push_back(counts[i]->rest);
    if (std::ranges::count(order, counts[i]->count) == 0) order.push_back(counts[i]->count);
  }
  if (all_but_first && noun == "count" && names_a_count(table.columns.front()))
    noun = table.columns.front();
  result.columns.push_back(noun);
  std::vector<RawCell> cells;
  for (const RawRow& row : table.rows)
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] && counts[i]->rest.empty()) cells.push_back(row.cells[i]);
  const std::string under_counts = named_by_cells(cells);
  for (const std::string& rest : rests) {
    const std::string_view name = trimmed(rest, " ()[]");
    result.columns.emplace_back(name.empty() ? under_counts : name);
  }
  for (const RawRow& row : table.rows) {
    for (const std::string& count : order) {
      check_row_count(result.rows.size(), row.place);
      RawRow one{row.place, {}};
      for (const std::size_t i : kept) one.cells.push_back(row.cells[i]);
      one.cells.emplace_back(count);
      one.cells.resize(result.columns.size());
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (!counts[i] || counts[i]->count != count) continue;
        const auto rest = std::ranges::find(rests, counts[i]->rest);
        one.cells[kept.size() + 1 + static_cast<std::size_t>(rest - rests.begin())] = row.cells[i];
      }
      result.rows.push_back(std::move(one));
    }
  }
  return result;
}

RawTable read_cells(std::string_view text, const std::string& file) {
  const std::string plain = with_plain_bars(text);
  const std::vector<Line> lines = lines_of(plain);
  if (lines.empty())
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  const CellReader reader(lines, file);
  const std::size_t first = header_line(lines, reader);
  RawTable table{
      file, reader.place(lines[first]), reader.cells(lines[first]), {}, reader.separator()};
  if (table.columns.size() == 1)
    throw UserError("{}: no comma, semicolon, tab or | divides '{}' into columns; write p,time_s",
                    table.place,
                    printable(table.columns.front()));
  check_column_count(table.columns.size(), table.place);
  // Numbers from the first line on: columns without names.
  const bool unnamed = std::ranges::any_of(table.columns, is_measured) &&
                       std::ranges::all_of(table.columns, [](const std::string& cell) {
                         return cell_number(cell, Comma::thousands).has_value();
                       });
  for (std::size_t i = 0; unnamed && i < table.columns.size(); ++i) {
    // "4 threads:"
    const WordList words = all_header_words(table.columns[i]);
    const auto thing =
        std::ranges::find_if(words, [](const std::string& word) { return thing_of(word); });
    table.columns[i] = thing != words.end() ? *thing : fmt::format("column {}", i + 1);
  }
  while (table.separator != '|' && table.columns.size() > 1 && table.columns.back().empty() &&
         std::ranges::all_of(lines, [&](const Line& line) {
           return reader.cells(line).size() < table.columns.size() ||
                  reader.cells(line).back().empty();
         }))
    table.columns.pop_back();
  const std::vector<std::size_t> starts =
      table.separator == by_blanks ? starts_of(lines[first].text) : std::vector<std::size_t>{};
  for (std::size_t i = unnamed ? first : first + 1; i < lines.size(); ++i) {
    const Line& line = lines[i];
    if (line.text.starts_with('#')) continue;
    check_row_count(table.rows.size(), reader.place(line));
    Cells cells = reader.cells(line);
    if (i == first + 1 && !unnamed && are_units(cells)) {
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
    fit_cells(cells, table.columns.size(), table.separator, reader.place(line));
    RawRow row{reader.place(line), {}};
    for (std::string& cell : cells)
      row.cells.push_back(cell.empty() ? RawCell{} : RawCell{std::move(cell)});
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    throw UserError(file + ": no rows below the header; give one line per count");
  }
  return table;
}
}  // namespace scaleworth::cli
