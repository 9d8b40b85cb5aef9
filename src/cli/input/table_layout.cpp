// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <cctype>
#include <map>
#include <regex>

namespace scaleworth::cli {
namespace {
using toml_file::printable;
using Cells = std::vector<std::string>;

/// Blanks divide the cells: two or more, or tabs.
constexpr char by_blanks = ' ';
constexpr std::size_t most_titles = 20;       // lines above a header
constexpr std::size_t longest_matched = 300;  // bytes, of what patterns are looked for in
constexpr std::size_t most_rows_matched = 1000;

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

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Tables of box characters and LaTeX with plain bars.
std::string with_plain_bars(std::string_view text) {
  std::string plain(text);
  const auto has = [&](const char* what) { return plain.find(what) != std::string::npos; };
  for (const char* bar : {"\xE2\x94\x82", "\xE2\x94\x83", "\xE2\x95\x91"})
    replace_all(plain, bar, "|");
  for (const char* line_break : {"<br>", "<br/>", "<br />"}) replace_all(plain, line_break, " ");
  if (has("\\\\") && has("&")) {
    for (const char* gone : {"\\\\", "\\hline", "\\midrule", "\\toprule", "\\bottomrule"})
      replace_all(plain, gone, "");
    replace_all(plain, "\\_", "_");
    replace_all(plain, "&", "|");
  }
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
    const bool nothing = trimmed(line).empty() || is_rule(line) || line.starts_with("```") ||
                         line.starts_with("\\begin") || line.starts_with("\\end");
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
  /// A printed data frame: rows of nothing but numbers, as many as the header has words, or one
  /// more, which numbers the rows. `rows` are those below the header.
  void read_as_frame(const Line& header, const std::vector<Line>& rows) {
    const std::size_t width = blank_cells(header.text, 1).size();
    std::size_t numbered = 0;
    for (const Line& row : rows) {
      const Cells words = blank_cells(row.text, 1);
      const bool numbers = std::ranges::all_of(
          words, [](const auto& word) { return parse_number<double>(word).has_value(); });
      if (!numbers || words.size() < width || words.size() > width + 1) return;
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
  /// A row's cells, without its number.
  Cells row_cells(const Line& line) const {
    Cells row = cells(line);
    if (numbered_) row.erase(row.begin());
    return row;
  }
  /// Of a row that lacks cells, by where those of the header begin; no word of it is cut.
  Cells aligned_cells(const Line& line, const std::vector<std::size_t>& starts) const {
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
  bool numbered_ = false;  // rows of a data frame
};

std::size_t filled(const Cells& cells) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells, [](const std::string& cell) { return !cell.empty(); }));
}

/// "3.78 s"
bool is_quantity(const std::string& cell) {
  const auto number = cell_number(cell, Comma::thousands);
  return number && number->unit;
}

bool is_measured(const std::string& cell) {
  return cell_number(cell, Comma::thousands).has_value();
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

/// The same names stand in several columns, and what tells them apart below them: "kuza55".
bool are_further_names(Cells names, const Cells& below) {
  std::erase(names, "");
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end() &&
         std::ranges::none_of(below, [](const std::string& cell) {
           return cell_number(cell, Comma::thousands).has_value();
         });
}

/// A line that names a count, or several in numbers behind a name, and has no other number.
bool is_header(const Cells& cells) {
  int named = 0;
  for (const std::string& cell : cells) {
    const bool number = cell_number(cell, Comma::thousands).has_value();
    const bool count = names_a_count(cell);
    if (number && (!count || &cell == &cells.front())) return false;
    named += !count ? 0 : number ? 1 : 2;
  }
  return filled(cells) > 1 && named > 1;
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
  constexpr auto any_case = std::regex::icase | std::regex::ECMAScript;
  static const std::regex product("([0-9]{1,5}) *[*x] *([0-9]{1,5})");
  static const std::regex count_first("(?:([0-9]+)|single|one)[ _x-]*([a-z]*)[ _x-]*(.*)",
                                      any_case);
  static const std::regex noun_first("([a-z]+)[ =:_-]*([0-9]+)", any_case);
  const std::string text(trimmed(header, " *`"));
  if (text.size() > longest_matched) return std::nullopt;
  std::smatch at;
  // "4*8": nodes and what each has.
  if (std::regex_match(text, at, product))
    return CountInHeader{std::to_string(std::stoll(at.str(1)) * std::stoll(at.str(2))), "", ""};
  if (std::regex_match(text, at, count_first)) {
    const std::string noun = plain_text(at.str(2));
    // "8xA100" and "8 A100 GPUs" are no counts of cards alone.
    const bool other = noun.empty() ? at[1].matched && !at.str(3).empty() : !thing_of(noun);
    if (other) return std::nullopt;
    return CountInHeader{at[1].matched ? at.str(1) : "1", noun, std::string(trimmed(at.str(3)))};
  }
  // "GPUs=4", "n = 4", "omp-4"
  if (!std::regex_match(text, at, noun_first)) return std::nullopt;
  const std::string noun = plain_text(at.str(1));
  if (!thing_of(noun) && !is_word("count_letter", noun)) return std::nullopt;
  return CountInHeader{at.str(2), thing_of(noun) ? noun : "", ""};
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
/// "4" of "Parallel (4 workers)" and "4x A100", 1 of "Sequential", with what is counted.
std::optional<CountInHeader> count_within(const std::string& cell) {
  static const std::regex counted("(?:^|[^a-z0-9.])([0-9]+)[ -]?(x(?= ?[a-z])|[a-z]{2,})");
  const std::string plain = plain_text(cell.substr(0, longest_matched));
  for (std::sregex_iterator at(plain.begin(), plain.end(), counted), end; at != end; ++at)
    if (at->str(2) == "x" || thing_of(at->str(2)))
      return CountInHeader{at->str(1), at->str(2) == "x" ? "" : at->str(2), ""};
  // "BM_sort/threads:4", as Google Benchmark names it, whose rest tells benchmarks apart.
  static const std::regex behind("(.*[^a-z0-9])?([a-z]{2,})[:=]([0-9]+)(/.*)?",
                                 std::regex::icase | std::regex::ECMAScript);
  std::smatch named;
  if (cell.size() <= longest_matched && std::regex_match(cell, named, behind) &&
      thing_of(plain_text(named.str(2))))
    return CountInHeader{named.str(3), plain_text(named.str(2)), named.str(1) + named.str(4)};
  if (has_word("serial", all_header_words(cell))) return CountInHeader{"1", "", ""};
  return std::nullopt;
}

/// Where no column counts, the counts that stand in each cell of one become a column.
RawTable counts_of_names(RawTable table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!names_a_count(table.columns[i])) continue;
    // "CPU | 142299 ns" is the time of processors.
    if (!std::ranges::all_of(
            table.rows, [&](const RawRow& row) { return is_quantity(cell_text(row.cells[i])); }))
      return table;
    table.columns[i] += " time";
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::vector<std::string> counts;
    std::vector<std::string> rests;
    std::string noun = "count";
    for (const RawRow& row : table.rows) {
      const auto count = count_within(cell_text(row.cells[i]));
      if (!count) break;
      counts.push_back(count->count);
      rests.push_back(count->rest);
      if (!count->noun.empty()) noun = count->noun;
    }
    const bool differ = std::ranges::adjacent_find(counts, std::not_equal_to{}) != counts.end();
    if (counts.size() < table.rows.size() || !differ) continue;
    table.columns.push_back(noun);
    for (std::size_t row = 0; row < counts.size(); ++row) {
      if (!rests[row].empty()) table.rows[row].cells[i] = RawCell(rests[row]);
      table.rows[row].cells.emplace_back(counts[row]);
    }
    return table;
  }
  return table;
}

/// Lines of one pattern below others, "4 GPUs: 390 img/s": their numbers are in columns; no columns
/// for anything else.
RawTable pattern_as_columns(const std::vector<Line>& lines, const std::string& file) {
  static const std::regex number(
      "([A-Za-z]*)([ =:]*)\\b([0-9]+(?:[.][0-9]+)?)(?![.]?[0-9])( ?[A-Za-z/%]+)?");
  const auto pattern_of = [](const Line& line) {
    // Three cells that blanks divide are a row.
    if (line.text.size() > longest_matched || line.number > most_rows_matched ||
        blank_cells(line.text, 2).size() > 2)
      return std::string();
    std::string pattern = std::regex_replace(std::string(line.text), number, "$1$2#$4");
    std::erase(pattern, 's');  // of a plural
    return line.text.find_first_of("|;\t") == std::string_view::npos ? pattern : std::string();
  };
  const std::string pattern = pattern_of(lines.back());
  std::size_t first = lines.size();
  while (first > 0 && pattern_of(lines[first - 1]) == pattern) --first;
  // "1 thread: 4 s" above "2 threads: 2 s (2.0x)" is a row, too.
  const bool another = first > 0 && count_within(std::string(lines[first - 1].text));
  if (pattern.empty() || lines.size() - first < 2 || 2 * first > lines.size() || another) return {};
  RawTable table{file, fmt::format("{}:{}", file, lines[first].number), {}, {}, by_blanks};
  bool counted = false;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const std::string text(lines[i].text);
    RawRow row{fmt::format("{}:{}", file, lines[i].number), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at) {
      const std::string behind(trimmed(at->str(4)));
      const std::string name = thing_of(plain_text(behind)) ? behind : at->str(1);
      const bool counts = thing_of(plain_text(name)) != nullptr;
      counted = counted || counts;
      row.cells.emplace_back(at->str(3) + (counts ? "" : at->str(4)));
      if (i == first)
        table.columns.push_back(counts ? name : fmt::format("column {}", row.cells.size()));
    }
    table.rows.push_back(std::move(row));
  }
  return counted && table.columns.size() > 1 ? table : RawTable{};
}
}  // namespace

RawTable counts_as_rows(RawTable table) {
  const auto counts = mapped(table.columns, count_in);
  const auto in_header =
      std::ranges::count_if(counts, [](const auto& count) { return count.has_value(); });
  const bool has_count = std::ranges::any_of(table.columns, [](const std::string& name) {
    return names_a_count(name) && !count_in(name);
  });
  if (in_header == 0) return counts_of_names(std::move(table));
  if (in_header < 2 || static_cast<std::size_t>(in_header) == table.columns.size()) return table;
  const bool all_but_first =
      !counts.front() && static_cast<std::size_t>(in_header) + 1 == table.columns.size();
  if (all_but_first && lies_on_its_side(table)) return turned(table, counts);
  if (has_count && !(all_but_first && names_a_count(table.columns.front()))) return table;
  // Each row becomes one of each count, with a column of each thing that is told of counts.
  RawTable result{table.file, table.place, {}, {}, table.separator};
  result.title = table.title;
  std::vector<std::size_t> kept;
  std::vector<std::string> rests;
  std::vector<std::string> order;
  std::string noun = "count";
  // "Latency (s) | TP=1 | TP=2" says in its corner what the cells are, as a title may.
  const HeaderWords corner_words = header_words(table.columns.front());
  const bool measure = corner_words.unit && !has_numbers(table, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) {
      kept.push_back(i);
      const auto meaning = named_meaning(table.columns[i]);
      // A ratio behind the counts is of the whole row.
      if (meaning == Meaning::speedup || meaning == Meaning::efficiency) {
        kept.pop_back();
        continue;
      }
      const bool corner =
          i == 0 && (table.columns[i].empty() || meaning == Meaning::count || measure);
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
  std::string under_counts = named_by_cells(cells);
  const HeaderWords said = measure ? corner_words : header_words(table.title);
  if (under_counts == "value" && said.unit && said.unit->dimension == Dimension::time)
    under_counts = fmt::format("time ({})", said.unit_text);
  else if (under_counts == "value" && said.per_time)
    under_counts = "throughput";
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

namespace {
/// The table whose header is the line `first`, or which begins there without one, up to `end`.
RawTable table_below(const std::vector<Line>& lines,
                     std::size_t first,
                     std::size_t end,
                     CellReader reader,
                     const std::string& file) {
  const std::vector<Line> below(lines.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                                lines.begin() + static_cast<std::ptrdiff_t>(end));
  reader.read_as_frame(lines[first], below);
  RawTable table{
      file, reader.place(lines[first]), reader.cells(lines[first]), {}, reader.separator()};
  if (table.columns.size() == 1)
    throw UserError("{}: no comma, semicolon, tab or | divides '{}' into columns; write p,time_s",
                    table.place,
                    printable(table.columns.front()));
  check_column_count(table.columns.size(), table.place);
  // Numbers from the first line on: columns without names.
  const bool unnamed = std::ranges::any_of(table.columns, is_quantity) ||
                       (std::ranges::any_of(table.columns, is_measured) &&
                        std::ranges::all_of(table.columns, [](const std::string& cell) {
                          return cell_number(cell, Comma::thousands).has_value();
                        }));
  for (std::size_t i = 0; unnamed && i < table.columns.size(); ++i) {
    // "4 threads:"
    const WordList words = all_header_words(table.columns[i]);
    const auto thing =
        std::ranges::find_if(words, [](const std::string& word) { return thing_of(word); });
    table.columns[i] = thing != words.end() ? *thing : fmt::format("column {}", i + 1);
  }
  while (table.separator != '|' && table.columns.size() > 1 && table.columns.back().empty() &&
         std::ranges::all_of(below, [&](const Line& line) {
           return reader.cells(line).size() < table.columns.size() ||
                  reader.cells(line).back().empty();
         }))
    table.columns.pop_back();
  const std::vector<std::size_t> starts =
      table.separator == by_blanks ? starts_of(lines[first].text) : std::vector<std::size_t>{};
  for (std::size_t i = unnamed ? first : first + 1; i < end; ++i) {
    const Line& line = lines[i];
    if (line.text.starts_with('#')) continue;
    check_row_count(table.rows.size(), reader.place(line));
    Cells cells = reader.row_cells(line);
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
    fit_cells(cells, table.columns.size(), table.separator, reader.place(line));
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

/// Adds the rows of another table, whose title tells them apart.
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
}  // namespace

RawTable read_cells(std::string_view text, const std::string& file) {
  const std::string plain = with_plain_bars(text);
  const std::vector<Line> lines = lines_of(plain);
  if (lines.empty())
    throw UserError(file + ": empty; write a header as p,time_s and one line per count");
  if (RawTable table = pattern_as_columns(lines, file); !table.columns.empty()) return table;
  const CellReader reader(lines, file);
  // Further headers, each below its title, begin further tables.
  std::vector<std::size_t> headers{header_line(lines, reader)};
  for (std::size_t i = headers.front() + 1; i < lines.size(); ++i)
    if (i > headers.back() + 1 && !lines[i].text.starts_with('#') &&
        is_header(reader.cells(lines[i])))
      headers.push_back(i);
  const auto title_of = [&](std::size_t header) {
    const std::string_view above = header > 0 ? lines[header - 1].text : "";
    const bool row = std::ranges::any_of(reader.cells({0, above}), is_measured);
    return row && !above.starts_with('#') ? "" : std::string(trimmed(above, " #*:|"));
  };
  std::optional<RawTable> all;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::string title = title_of(headers[i]);
    std::size_t end = lines.size();
    if (i + 1 < headers.size()) end = headers[i + 1];
    if (end < lines.size() && end > headers[i] + 2 && !title_of(end).empty()) --end;
    RawTable table = table_below(lines, headers[i], end, reader, file);
    table.title = title;
    if (headers.size() > 1) {
      table.columns.emplace_back("table");
      const std::string name = title.empty() ? std::to_string(i + 1) : title;
      for (RawRow& row : table.rows) row.cells.emplace_back(name);
    }
    if (all)
      append(*all, table);
    else
      all = std::move(table);
  }
  return *std::move(all);
}
}  // namespace scaleworth::cli
