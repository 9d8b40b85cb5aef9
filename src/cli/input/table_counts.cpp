// SPDX-License-Identifier: Apache-2.0
/// Counts that texts state: in headers, in the names of rows, and in running text such as logs.
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <regex>
#include <set>

namespace scaleworth::cli {
namespace {
constexpr std::size_t longest_text = 1000;  // bytes, of what may state a count
constexpr std::size_t most_lines = 20000;   // of running text

struct Token {
  char kind = '.';   // 1 of a number, a of a word, . of a sign
  std::string text;  // small letters
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Numbers ("1,024.5", "3e+00"), words and signs; what is no ASCII belongs to words.
std::vector<Token> tokens_of(std::string_view text) {
  constexpr char letter = '\x7F';
  static const std::regex token(
      "([0-9]+(?:[.,:][0-9]+)*(?:e[+-][0-9]+)?)|([a-z\x7F][a-z0-9_\x7F]*)|[^ \t\"'`]");
  std::string plain(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool times = plain.compare(i, 2, "\xC3\x97") == 0;
    const auto byte = static_cast<unsigned char>(plain[i]);
    plain[i] = times ? ' ' : byte < 0x80 ? static_cast<char>(std::tolower(byte)) : letter;
    if (times) plain[++i] = 'x';
  }
  std::vector<Token> tokens;
  for (std::sregex_iterator at(plain.begin(), plain.end(), token), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    const char kind = (*at)[1].matched ? '1' : (*at)[2].matched ? 'a' : '.';
    tokens.push_back({kind, at->str(), begin, begin + at->str().size()});
  }
  return tokens;
}

/// What a word counts: "threads" of "omp_num_threads", "gpu" of "gpu_num"; empty for nothing.
std::string thing_in(const std::string& word) {
  if (thing_of(word)) return word;
  const std::vector<std::string_view> parts = split(word, '_');
  if (parts.size() < 2 || std::ranges::count(parts, std::string_view("per")) > 0) return "";
  const bool number = is_word("number", parts.back());
  const std::string last(number ? parts[parts.size() - 2] : parts.back());
  return thing_of(last) ? last : "";
}

struct SaidCount {
  std::string count;
  std::string noun;  // as it is said; may be empty
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The whole number from 1 on that a token is; absent for anything else.
std::optional<long> whole_of(const Token& token) {
  constexpr std::array<std::pair<std::string_view, long>, 5> words{
      {{"single", 1}, {"one", 1}, {"two", 2}, {"four", 4}, {"eight", 8}}};
  for (const auto& [word, number] : words)
    if (token.text == word) return number;
  const auto number = token.kind == '1' ? cell_number(token.text, Comma::thousands) : std::nullopt;
  const bool whole = number && number->value >= 1.0 && number->value <= 1e6 &&
                     number->value == std::floor(number->value);
  if (!whole || token.text.find_first_of(".:") != std::string::npos) return std::nullopt;
  return static_cast<long>(number->value);
}

/// Finds what counts machines in a text. `name`: a header or the name of a row, where "gpu-4"
/// counts GPUs, and no line of a log, where it may be the fourth.
class CountFinder {
 public:
  CountFinder(std::string_view text, bool name) : tokens_(tokens_of(text)), name_(name) {
    launches_ = text.find("mpi") != text.npos || text.find("srun") != text.npos;
  }
  std::vector<SaidCount> all() const {
    std::vector<SaidCount> found;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      auto said = before_thing(i);
      if (!said) said = behind_thing(i);
      if (said && (found.empty() || said->begin >= found.back().end)) found.push_back(*said);
    }
    return found;
  }
  const std::vector<Token>& tokens() const { return tokens_; }

 private:
  std::string word_at(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == 'a' ? tokens_[i].text : "";
  }
  bool sign_at(std::size_t i, std::string_view signs) const {
    return i < tokens_.size() && tokens_[i].kind == '.' &&
           signs.find(tokens_[i].text) != signs.npos;
  }
  SaidCount said(long count, std::string noun, std::size_t first, std::size_t last) const {
    return {std::to_string(count), std::move(noun), tokens_[first].begin, tokens_[last].end};
  }

  /// "4 GPUs", "4 x A100", "8xH100 GPUs", "2x8xH100", "4-gpu", "single device".
  std::optional<SaidCount> before_thing(std::size_t i) const {
    auto count = whole_of(tokens_[i]);
    // "1/2/4 GPUs" are several.
    if (!count || (i > 0 && sign_at(i - 1, "/."))) return std::nullopt;
    std::size_t next = i + 1;
    while (sign_at(next, "-_*")) ++next;
    static const std::regex times("x(?:([0-9]+)x)?(.*[0-9].*)?");
    std::smatch each;
    std::string first = word_at(next);
    // "2 x 8 GPUs" as "2x8 GPUs"
    if (first == "x" && next + 1 < tokens_.size() && tokens_[next + 1].kind == '1')
      first += tokens_[++next].text;
    const bool model = std::regex_match(first, each, times);
    if (model) ++next;
    if (model && each[1].matched && each.length(1) < 6) *count *= std::stol(each.str(1));
    bool named = model && each[2].matched;
    // "2x8 GPUs" are 16; "2x4090" names them.
    const std::string of_each = each.str(2);
    if (named && of_each.size() < 4 && !thing_in(word_at(next)).empty() &&
        of_each.find_first_not_of("0123456789") == std::string::npos)
      *count *= std::stol(of_each);
    for (int words = 0; words < 2; ++words, ++next) {
      const std::string word = word_at(next);
      if (!thing_in(word).empty() || !(has_digit(word) || is_word("number", word))) break;
      named = named || (model && has_digit(word));
    }
    const std::string thing = thing_in(word_at(next));
    const bool part = word_at(next + 1) == "per" || word_at(next + 1) == "hours" ||
                      (sign_at(next + 1, "/") && !word_at(next + 2).empty());
    // "64 GPUs total"
    const std::size_t last = is_word("all", word_at(next + 1)) ? next + 1 : next;
    if (!thing.empty() && !part) return said(*count, thing, i, last);
    return named ? std::optional(said(*count, "", i, next - 1)) : std::nullopt;
  }

  /// "GPUs: 4", "OMP_NUM_THREADS=4", "--threads 4", "-np 8", "-j8".
  std::optional<SaidCount> behind_thing(std::size_t i) const {
    std::size_t first = i;
    while (first > 0 && sign_at(first - 1, "-")) --first;
    const bool flag = first < i;
    std::string word = word_at(i);
    const std::string digits = word.substr(word.find_last_not_of("0123456789") + 1);
    word.resize(word.size() - digits.size());
    const std::string thing = thing_in(word);
    const bool option = flag && is_word("count_flag", word) && (word != "n" || launches_);
    if (thing.empty() && !option) return std::nullopt;
    if (!digits.empty()) {  // "-j8", "thread4"
      const auto count = whole_of({'1', digits});
      return count && (option || name_) ? std::optional(said(*count, thing, first, i))
                                        : std::nullopt;
    }
    std::size_t next = i + 1;
    const bool stated = sign_at(next, "=:");
    if (stated || (name_ && sign_at(next, "-_"))) ++next;
    // "rank: 3" and "--gpu 1" are the numbers of one.
    const bool may_count =
        singular(thing) != thing || singular(word) != word || is_word("count_flag", word) || name_;
    const auto count = next < tokens_.size() ? whole_of(tokens_[next]) : std::nullopt;
    const auto cell = "1 " + word_at(next + 1);
    const auto behind = cell_number(cell, Comma::thousands);  // "workers: 12 s"
    if (!count || !may_count || sign_at(next + 1, "/%") || (behind && behind->unit))
      return std::nullopt;
    return said(*count, thing, first, next);
  }

  std::vector<Token> tokens_;
  bool name_;
  bool launches_ = false;  // "-n 4" counts ranks
};

/// A count with what else its text says, "(tokens/s)" of "4 cards (tokens/s)".
struct NamedCount {
  std::string count;
  std::string noun;
  std::string rest;
};

/// The count that a text states and the rest of the text; by a letter ("p=4", "omp-4") where that
/// is all, behind a sign in the name of a row.
std::optional<NamedCount> said_in(std::string text, bool header) {
  if (text.size() > longest_text) return std::nullopt;
  std::erase(text, '*');
  const CountFinder finder(text, header);
  const std::vector<Token>& tokens = finder.tokens();
  if (const auto said = finder.all(); !said.empty()) {
    const SaidCount& one = said.front();
    std::string rest(trimmed(text.substr(0, one.begin), " -_@:,;*`"));
    if (!rest.empty()) rest += ' ';
    rest += trimmed(text.substr(one.end), " -_@:,;*`");
    return NamedCount{one.count, one.noun, std::string(trimmed(rest))};
  }
  const bool sign = tokens.size() == 3 && tokens[1].kind == '.';
  if (!(sign || (header && tokens.size() == 2)) || !is_word("count_letter", tokens[0].text))
    return std::nullopt;
  const auto count = whole_of(tokens.back());
  return count ? std::optional(NamedCount{std::to_string(*count), "", ""}) : std::nullopt;
}

/// The count that a header states: "4 cards (tokens/s)", "4", "single", "4*8" of nodes and what
/// each has.
std::optional<NamedCount> count_in(const std::string& header) {
  const auto tokens = tokens_of(trimmed(header.substr(0, longest_text), " *`"));
  if (tokens.empty()) return std::nullopt;
  const auto first = whole_of(tokens.front());
  const bool serial = tokens.size() == 1 && is_word("serial", tokens.front().text);
  if (serial || (tokens.size() == 1 && first))
    return NamedCount{std::to_string(first.value_or(1)), "", ""};
  const bool times = tokens.size() == 3 && (tokens[1].text == "*" || tokens[1].text == "x");
  const long each = times ? whole_of(tokens[2]).value_or(0) : 0;
  if (first && each > 0) return NamedCount{std::to_string(*first * each), "", ""};
  return said_in(header, true);
}

/// "4" of "Parallel (4 workers)" and "4x A100", 1 of "Sequential".
std::optional<NamedCount> count_within(const std::string& cell) {
  if (auto said = said_in(cell, false)) return said;
  if (has_word("serial", all_header_words(cell))) return NamedCount{"1", "", ""};
  return std::nullopt;
}

/// Every column but the first is a count, and the rows are named by what they are: a table on its
/// side.
bool lies_on_its_side(const RawTable& table) {
  return std::ranges::any_of(table.rows, [](const RawRow& row) {
    return named_meaning(cell_text(row.cells.front())).has_value();
  });
}

RawTable turned(const RawTable& table, const std::vector<std::optional<NamedCount>>& counts) {
  RawTable result{table.file, table.place, {}, {}, table.separator};
  const std::string& corner = table.columns.front();
  result.columns = {names_a_count(corner) ? corner : "count"};
  for (const auto& count : counts)
    if (count && !count->noun.empty()) result.columns.front() = count->noun;
  for (const RawRow& row : table.rows) result.columns.push_back(cell_text(row.cells.front()));
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    RawRow row{table.place, {counts[i]->count}};
    for (const RawRow& from : table.rows) row.cells.push_back(from.cells[i]);
    result.rows.push_back(std::move(row));
  }
  return result;
}

struct NumberWithin {
  long number = 0;
  std::string rest;  // of the text, without it
};

/// Those that stand alone between signs: 2 and 16 of "parallel-2/test-16".
std::vector<NumberWithin> numbers_within(const std::string& text) {
  std::vector<NumberWithin> found;
  for (const Token& token : tokens_of(text.substr(0, longest_text))) {
    const auto number = whole_of(token);
    if (!number || token.kind != '1' || token.begin == 0 ||
        std::isalnum(static_cast<unsigned char>(text[token.begin - 1])) != 0)
      continue;
    std::string rest = text;
    rest.replace(token.begin, token.end - token.begin, "#");
    found.push_back({*number, std::move(rest)});
  }
  return found;
}

/// Of names that differ by a number alone that number counts, where they are of benchmarks, or go
/// on from 1: "BenchmarkX" (1), "BenchmarkX-4"; "f(1)", "f(2)".
RawTable counts_of_like_names(RawTable table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::map<std::string, std::set<long>> alike;  // numbers by the rest of the name
    for (const RawRow& row : table.rows) {
      const std::string name(trimmed(cell_text(row.cells[i])));
      for (const NumberWithin& one : numbers_within(name)) alike[one.rest].insert(one.number);
    }
    std::erase_if(alike, [](const auto& one) { return one.second.size() < 2; });
    const bool benchmarks = std::ranges::all_of(alike, [](const auto& one) {
      return one.first.starts_with("Bench") || one.first.starts_with("BM_");
    });
    const bool from_one = std::ranges::all_of(alike, [](const auto& one) {
      long expected = 1;
      bool doubles = *one.second.begin() == 1 && one.second.size() > 2;
      bool follows = one.first.find("(#)") != std::string::npos;
      for (const long number : one.second) {
        doubles = doubles && (number & (number - 1)) == 0;
        follows = follows && number == expected++;
      }
      return doubles || follows;
    });
    if (alike.empty() || !(benchmarks || from_one)) continue;
    table.columns.insert(table.columns.begin(), "count");
    for (RawRow& row : table.rows) {
      RawCell count = "n/a";
      std::string rest(trimmed(cell_text(row.cells[i])));
      if (alike.contains(rest + "-#")) rest += "-1";
      for (const NumberWithin& one : numbers_within(std::string(rest))) {
        if (!alike.contains(one.rest)) continue;
        count = std::to_string(one.number);
        rest = one.rest;
      }
      row.cells[i] = rest;
      row.cells.insert(row.cells.begin(), count);
    }
    return table;
  }
  return table;
}

/// Where no column counts, the counts that stand in the cells of one become a column.
RawTable counts_of_names(RawTable table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!names_a_count(table.columns[i])) continue;
    // "CPU | 142299 ns" is the time of processors.
    if (said_by_cells(table, i) != "time") return table;
    table.columns[i] += " time";
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::vector<std::optional<NamedCount>> counts;
    std::set<std::string> different;
    std::size_t counted = 0;
    std::string noun = "count";
    for (const RawRow& row : table.rows) {
      counts.push_back(count_within(cell_text(row.cells[i])));
      if (!counts.back()) continue;
      ++counted;
      different.insert(counts.back()->count);
      if (!counts.back()->noun.empty()) noun = counts.back()->noun;
    }
    // "Speedup" below "8 workers" is a row of no count.
    if (different.size() < 2 || (i == 0 ? 6U : 3U) * counted < 2 * table.rows.size()) continue;
    table.columns.insert(table.columns.begin(), noun);
    for (std::size_t row = 0; row < counts.size(); ++row) {
      RawRow& one = table.rows[row];
      // What tells rows of one count apart: "BM_sort/", "GPU".
      if (counts[row] && different.size() < counted)
        one.cells[i] = counts[row]->rest.empty() ? "alone" : counts[row]->rest;
      one.cells.insert(one.cells.begin(), counts[row] ? counts[row]->count : "n/a");
    }
    return table;
  }
  return counts_of_like_names(std::move(table));
}

/// What stands under counts in a header: by the cells, else by the corner or the title.
std::string name_under_counts(const RawTable& table,
                              const std::vector<std::optional<NamedCount>>& counts,
                              const HeaderWords& said) {
  std::vector<RawCell> cells;
  for (const RawRow& row : table.rows)
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] && counts[i]->rest.empty()) cells.push_back(row.cells[i]);
  std::string name = named_by_cells(cells);
  if (name != "value") return name;
  if (said.unit && said.unit->dimension == Dimension::time)
    return fmt::format("time ({})", said.unit_text);
  return said.per_time ? "throughput" : name;
}
}  // namespace

RawTable counts_as_rows(RawTable table) {
  drop_common_divisor(table.columns);
  auto counts = mapped(table.columns, count_in);
  const auto others = std::ranges::count_if(counts, [](const auto& count) { return !count; });
  std::set<std::string> different;
  for (const auto& count : counts)
    if (count) different.insert(count->count);
  const bool has_count = std::ranges::any_of(table.columns, [](const std::string& name) {
    return names_a_count(name) && !count_in(name);
  });
  if (different.size() < 2 || others == 0) return counts_of_names(std::move(table));
  const bool all_but_first = !counts.front() && others == 1;
  if (all_but_first && lies_on_its_side(table)) return turned(table, counts);
  if (has_count && !(all_but_first && names_a_count(table.columns.front())))
    return counts_of_names(std::move(table));
  // "1 GPU TP1 | 2 GPU TP2": what each count is told of is not told of another.
  std::set<std::string> told;
  for (const auto& count : counts)
    if (count) told.insert(count->rest);
  const bool of_each = told.size() > 1 && told.size() == different.size() &&
                       std::ssize(counts) - others == std::ssize(told);
  for (auto& count : counts)
    if (count && of_each) count->rest.clear();
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
  const std::string under_counts =
      name_under_counts(table, counts, measure ? corner_words : header_words(table.title));
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
/// A measurement in running text: "took 0.0212 seconds".
struct Measure {
  std::string key;   // the words before it, and what kind of number it is
  std::string cell;  // with its unit
  std::string of;    // the first word of its line
};

/// The cell at the number `i` of a line, as far as it can be read: "31m54,857s", "14k tokens/sec".
std::string cell_at(std::string_view line, const std::vector<Token>& tokens, std::size_t& i) {
  constexpr std::size_t most_words = 7;
  const std::size_t begin = tokens[i].begin;
  for (std::size_t last = std::min(i + most_words, tokens.size() - 1); last > i; --last) {
    const std::string cell(line.substr(begin, tokens[last].end - begin));
    const auto number = cell_number(cell, Comma::thousands);
    const bool one = !has_digit(cell.substr(tokens[i].text.size()));
    const bool ends = tokens[last].kind == 'a' || tokens[last].text == "%";
    // Of "4 cnts/sec= 46,204" the words are of what follows.
    const bool names = last + 1 < tokens.size() && number && !number->unit &&
                       (tokens[last + 1].text == "=" || tokens[last + 1].text == ":");
    const bool divided =
        names || cell.find_first_of(";|\t()") != cell.npos || cell.find(", ") != cell.npos;
    if (!number || !ends || divided || !(one || number->unit)) continue;
    i = last;
    const std::size_t times = cell.find("x ");  // "2x faster"
    return times < cell.size() ? cell.substr(0, times + 1) : cell;
  }
  return std::string(line.substr(begin, tokens[i].end - begin));
}

/// What a line measures.
std::vector<Measure> measures_of(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(line);
  constexpr std::ptrdiff_t most_words = 6;
  std::vector<Measure> measures;
  WordList key;
  const auto* const word = find_in(tokens, true, [](const Token& one) { return one.kind != '.'; });
  const bool named = word && word->kind == 'a';
  const std::string of = named ? word->text.substr(0, word->text.find_first_of("0123456789")) : "";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind == 'a' && token.text.front() != '\x7F') key.push_back(token.text);
    if (token.text == "/" && !key.empty()) key.emplace_back("per");
    const bool dimensions = token.end < line.size() && line[token.end] == 'D';  // "2D", no days
    if (token.kind != '1' || dimensions) continue;
    // "3803.6 1.637s 1:03:25.94 99.9%" of `time`: behind those of processors the run's.
    if (i + 2 < tokens.size() && tokens[i + 2].text == "%" &&
        token.text.find(':') != token.text.npos)
      return {{"time\ntime", token.text, of}};
    const bool stated = i > 0 && (tokens[i - 1].text == ":" || tokens[i - 1].text == "=");
    if (std::ssize(key) > most_words) key.erase(key.begin(), key.end() - most_words);
    std::string name = fmt::format("{}", fmt::join(key, " "));
    key.clear();
    const std::string cell = cell_at(line, tokens, i);
    // "959 c/s real, 960 c/s virtual"
    const std::size_t behind = cell.find(' ', cell.find(' ') + 1);
    if (name.empty() && !measures.empty() && behind != std::string::npos)
      name = cell.substr(behind + 1);
    else if (name.empty() && named)
      name = word->text;
    const std::string kind = named_by_cells({cell});
    const HeaderWords words = header_words(name);
    const bool known = stated && (named_meaning(name) || words.per_time || words.unit ||
                                  has_word("time", words.name));
    if (kind != "value" || known) measures.push_back({name + "\n" + kind, cell, of});
  }
  return measures;
}

/// A line of running text.
struct Said {
  std::vector<SaidCount> counts;
  std::vector<Measure> measures;
  bool heading = false;  // "4 GPUs:"
  bool serial = false;   // its measurements are of one
  bool numbers = false;  // it has some behind its count
  std::string label;     // without its count
};

std::vector<Said> said_by(const std::vector<TextLine>& lines) {
  std::vector<Said> said;
  for (const TextLine& line : lines) {
    Said& one = said.emplace_back();
    std::string rest = values_only(line.text.substr(0, longest_text));
    one.counts = CountFinder(rest, false).all();
    for (const SaidCount& count : one.counts) {
      std::size_t begin = count.begin;
      std::size_t end = count.end;
      // "(16 GPUs total)"
      const std::size_t close = rest.find_first_of("()0123456789", end);
      if (begin > 0 && rest[begin - 1] == '(' && close < rest.size() && rest[close] == ')') {
        --begin;
        end = close + 1;
      }
      rest.replace(begin, end - begin, end - begin, ' ');
    }
    one.measures = measures_of(rest);
    one.label = rest.substr(0, rest.find_first_of("0123456789:"));
    one.numbers = !one.counts.empty() && has_digit(rest);
    const std::string_view first = line.text.substr(0, line.text.find(' '));
    // Prose around a list compares what the list says.
    const bool listed = !one.measures.empty() && (first == "-" || first == "*" || first == "+");
    one.heading = listed || line.text.starts_with('#') || trimmed(line.text, " *`").ends_with(':');
    one.serial = one.counts.empty() && !one.measures.empty() &&
                 has_word("serial", all_header_words(std::string(line.text)));
  }
  return said;
}

/// Leaves of each line the counts of the noun that tells most of them apart, and where headings
/// count none but theirs. Returns the noun; absent where none has two counts.
std::optional<std::string> choose_noun(std::vector<Said>& lines) {
  std::map<std::string, std::set<std::string>> counts;
  for (const Said& line : lines)
    for (const SaidCount& said : line.counts) counts[singular(said.noun)].insert(said.count);
  std::optional<std::string> best;
  for (auto& [noun, different] : counts) {
    if (std::ranges::any_of(lines, &Said::serial)) different.insert("1");
    if (different.size() > 1 && (!best || different.size() > counts[*best].size())) best = noun;
  }
  std::set<std::string> in_headings;
  for (Said& line : lines) {
    std::erase_if(line.counts, [&](const SaidCount& one) { return singular(one.noun) != best; });
    // Of a line with several counts its measurements may be of any.
    if (line.counts.size() > 1 && line.counts.front().count != line.counts.back().count) line = {};
    if (line.heading && !line.counts.empty()) in_headings.insert(line.counts.front().count);
  }
  for (Said& line : lines)
    if (in_headings.size() > 1 && !line.heading) line.counts.clear();
  return best;
}

/// Lines of one key that begin otherwise are of other programs, and no repeats.
constexpr std::string_view several_programs = "\n";

/// A count and what was measured with it.
struct Block {
  std::string count;
  std::string place;
  std::string label;
  bool serial = false;
  bool numbers = false;                                     // stand behind the count
  std::string title{};                                      // a line of no number above it
  std::map<std::string, std::vector<std::string>> cells{};  // by key
  std::map<std::string, std::string> of{};                  // the first word of their lines, by key
};

/// Where the counts begin again, and only there, below a title, each list has its own.
void title_lists(std::vector<Block>& blocks) {
  std::set<std::string> seen;
  std::string title;
  bool lists = false;
  bool others = false;
  for (Block& block : blocks) {
    const bool again = seen.contains(block.count);
    lists = lists || again;
    others = others || (!seen.empty() && again == block.title.empty());
    if (again) seen.clear();
    if (seen.empty()) title = block.title.empty() ? "first" : block.title;
    seen.insert(block.count);
    block.title = title;
  }
  for (Block& block : blocks)
    if (others || !lists) block.title.clear();
}

/// Of each count the lines up to the next.
std::vector<Block> blocks_of(const std::vector<TextLine>& lines,
                             const std::vector<Said>& said,
                             const std::string& file,
                             std::vector<std::string>& left_out) {
  std::vector<Block> blocks;
  std::vector<Block> serial;
  std::map<std::string_view, int> times;  // that a line stands there
  for (const TextLine& line : lines) ++times[line.text];
  std::string title;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Said& line = said[i];
    const std::string place = fmt::format("{}:{}", file, lines[i].number);
    const bool again = !blocks.empty() && !line.counts.empty() && line.measures.empty() &&
                       blocks.back().count == line.counts.front().count;
    if (again && line.numbers && !blocks.back().cells.empty())
      left_out.push_back(fmt::format("{} (no measurement)", blocks.back().count));
    if (!line.counts.empty() && !again)
      blocks.push_back(
          {line.counts.front().count, place, line.label, false, line.numbers, std::move(title)});
    if (line.serial) serial.push_back({"1", place, line.label, true});
    title = line.counts.empty() && line.measures.empty() && times[lines[i].text] == 1
                ? std::string(trimmed(lines[i].text.substr(0, 60), " #*:>`|"))
                : "";
    if (blocks.empty() && !line.serial) continue;
    Block& block = line.serial ? serial.back() : blocks.back();
    for (const Measure& measure : line.measures) {
      block.cells[measure.key].push_back(measure.cell);
      std::string& of = block.of.emplace(measure.key, measure.of).first->second;
      if (of != measure.of) of = several_programs;
    }
  }
  if (find_in(blocks, "1", &Block::count) == nullptr)
    blocks.insert(blocks.begin(), serial.begin(), serial.end());
  for (const Block& block : blocks)
    if (block.cells.empty() && block.numbers)
      left_out.push_back(fmt::format("{} (no measurement)", block.count));
  std::erase_if(blocks, [](const Block& block) { return block.cells.empty(); });
  title_lists(blocks);
  return blocks;
}
}  // namespace

RawTable running_text(const std::vector<TextLine>& lines, const std::string& file) {
  if (lines.size() > most_lines) return {};
  std::vector<Said> said = said_by(lines);
  const auto noun = choose_noun(said);
  if (!noun) return {};
  std::vector<std::string> left_out;
  std::vector<Block> blocks = blocks_of(lines, said, file, left_out);
  std::set<std::string> keys;  // that all blocks have
  const auto find_keys = [&] {
    for (const Block& block : blocks)
      for (const auto& [key, cells] : block.cells) keys.insert(key);
    for (const Block& block : blocks)
      std::erase_if(keys, [&](const std::string& key) {
        return !block.cells.contains(key) || block.of.at(key) == several_programs;
      });
  };
  find_keys();
  // "Serial time" of each run beside "parallel time".
  if (keys.empty()) std::erase_if(blocks, &Block::serial);
  find_keys();
  std::map<std::string, std::set<std::string>> labels;  // by counts
  for (const Block& block : blocks) labels[block.count + "\n" + block.title].insert(block.label);
  // "DataParallel (2 GPUs)" and "DistributedDataParallel (2 GPUs)" are no repeats.
  const bool apart =
      std::ranges::any_of(labels, [](const auto& of_count) { return of_count.second.size() > 1; });
  if (keys.empty() || labels.size() < 2 || apart) return {};
  RawTable table{file, blocks.front().place, {noun->empty() ? "count" : *noun}, {}};
  for (const std::string& key : keys) {
    const std::string name = key.substr(0, key.find('\n'));
    const bool taken = name.empty() || std::ranges::count(table.columns, name) > 0;
    table.columns.push_back(taken ? fmt::format("column {}", table.columns.size() + 1) : name);
  }
  table.left_out = std::move(left_out);
  const bool lists = !blocks.front().title.empty();
  if (lists) table.columns.emplace_back("list");
  for (const Block& block : blocks) {
    std::size_t repeats = 1;
    for (const std::string& key : keys) repeats = std::max(repeats, block.cells.at(key).size());
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
      check_row_count(table.rows.size(), block.place);
      RawRow& row = table.rows.emplace_back(RawRow{block.place, {block.count}});
      for (const std::string& key : keys) {
        const auto& cells = block.cells.at(key);
        row.cells.push_back(repeat < cells.size() ? RawCell(cells[repeat]) : RawCell{});
      }
      if (lists) row.cells.emplace_back(block.title);
    }
  }
  return table;
}
}  // namespace scaleworth::cli
