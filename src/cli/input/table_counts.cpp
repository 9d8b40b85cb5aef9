// SPDX-License-Identifier: Apache-2.0
/// Counts that texts state: in headers and in the names of rows.
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <regex>
#include <set>

namespace scaleworth::cli {
std::vector<Token> tokens_of(std::string_view text) {
  constexpr char letter = '\x7F';
  static const std::regex token(
      "([0-9]+(?:[.,:][0-9]+)*(?:e[+-][0-9]+)?)|([a-z\x7F][a-z0-9_\x7F]*)|[^ \t\"'`]");
  std::string plain(text);
  bool option = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    // "--nproc-per-node" is one word.
    const bool letter_before = i > 0 && std::isalnum(static_cast<unsigned char>(plain[i - 1]));
    option = plain.compare(i, 2, "--") == 0 || (option && plain[i] != ' ' && plain[i] != '=');
    if (option && plain[i] == '-' && letter_before) plain[i] = '_';
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

namespace {
/// What a word counts: "threads" of "omp_num_threads", "gpu" of "gpu_num"; empty for nothing.
std::string thing_in(const std::string& word) {
  if (thing_of(word)) return word;
  const std::vector<std::string_view> parts = split(word, '_');
  if (parts.size() < 2 || std::ranges::count(parts, std::string_view("per")) > 0) return "";
  const bool number = is_word("number", parts.back());
  const std::string last(number ? parts[parts.size() - 2] : parts.back());
  return thing_of(last) ? last : "";
}

/// The whole number from 1 on that a token is; absent for anything else.
std::optional<long> whole_of(const Token& token) {
  constexpr std::array<std::string_view, 9> words{
      "single", "one", "two", "three", "four", "five", "six", "seven", "eight"};
  if (const auto* const word = std::ranges::find(words, token.text); word != words.end())
    return std::max<long>(word - words.begin(), 1);
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
  CountFinder(std::string_view text, bool name)
      : text_(text), tokens_(tokens_of(text)), name_(name) {
    launches_ = std::ranges::any_of(tokens_,
                                    [](const Token& one) { return is_word("launcher", one.text); });
  }
  std::vector<SaidCount> all() const {
    std::vector<SaidCount> found;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool nodes = !found.empty() && counted_noun(found.back().noun) == "nodes";
      auto said = before_thing(i, nodes ? &found.back() : nullptr);
      if (!said) said = behind_thing(i);
      if (said && (found.empty() || said->begin >= found.back().end)) found.push_back(*said);
    }
    return found;
  }

 private:
  std::string word_at(std::size_t i) const {
    if (i >= tokens_.size() || tokens_[i].kind != 'a') return "";
    const Token& token = tokens_[i];
    // Those beyond ASCII as they stand there.
    return token.text.front() < '\x7F' ? token.text
                                       : std::string(text_.substr(token.begin, token.text.size()));
  }
  bool sign_at(std::size_t i, std::string_view signs) const {
    return i < tokens_.size() && tokens_[i].kind == '.' &&
           signs.find(tokens_[i].text) != signs.npos;
  }
  SaidCount said(long count, const std::string& noun, std::size_t first, std::size_t last) const {
    return {std::to_string(count), noun, singular(noun), tokens_[first].begin, tokens_[last].end};
  }

  /// "cores" of "16c", a letter directly behind a number; empty for anything else.
  std::string thing_of_letter(std::size_t i) const {
    const std::string word = word_at(i);
    const bool attached = word.size() == 1 && i > 0 && tokens_[i - 1].end == tokens_[i].begin;
    // "80C" are degrees, "720p" are lines: "4p=104.9s".
    for (const char* thing : {"cores", "nodes", "threads", "procs"})
      if (attached && word.front() == *thing && text_[tokens_[i].begin] == *thing &&
          (*thing != 'p' || sign_at(i + 1, "=")))
        return thing;
    return "";
  }

  /// "4 GPUs", "4 x A100", "8xH100 GPUs", "2x8xH100", "4-gpu", "single device", "16c"; `nodes`:
  /// those said before, of which "4 GPUs each" are a part.
  std::optional<SaidCount> before_thing(std::size_t i, const SaidCount* nodes) const {
    auto count = tokens_[i].text == "0" ? 0L : whole_of(tokens_[i]);
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
    static const std::regex layout("n([0-9]{1,4})([cgp])");  // "2n8c"
    if (std::regex_match(first, each, layout))
      return said(*count * std::stol(each.str(1)), each.str(2) == "p" ? "procs" : "cards", i, next);
    const bool model = std::regex_match(first, each, times);
    if (model) ++next;
    if (model && each[1].matched && each.length(1) < 6) *count *= std::stol(each.str(1));
    bool named = model && each[2].matched;
    // "2x8 GPUs" are 16; "2x4090" names them.
    const std::string of_each = each.str(2);
    if (named && of_each.size() < 4 && !thing_in(word_at(next)).empty() &&
        of_each.find_first_not_of("0123456789") == std::string::npos)
      *count *= std::stol(of_each);
    const std::string letter = next == i + 1 ? thing_of_letter(next) : "";
    for (int words = 0; words < 2 && letter.empty(); ++words, ++next) {
      // "4x RTX 4090"
      const bool digits = words > 0 && next < tokens_.size() && is_word("maker", word_at(next - 1));
      const std::string word = digits ? tokens_[next].text : word_at(next);
      if (!thing_in(word).empty() ||
          !(has_digit(word) || is_word("number", word) || is_word("maker", word)))
        break;
      named = named || (model && has_digit(word));
    }
    std::string thing = letter.empty() ? thing_in(word_at(next)) : letter;
    // Of "CPU nodes" the last is counted, of "an 8 GPU node" the first.
    const std::string behind = thing_in(word_at(next + 1));
    const bool last_counts =
        *count == 1 || singular(behind) != behind || is_word("number", word_at(next - 1));
    if (letter.empty() && !thing.empty() && !behind.empty() && last_counts) {
      thing = behind;
      ++next;
    }
    const bool divided = word_at(next + 1) == "per" || sign_at(next + 1, "/");
    const bool per_node = divided && counted_noun(word_at(next + 2)) == "nodes";
    const bool multiplied = i > 0 && (tokens_[i - 1].text == "x" || tokens_[i - 1].text == "*") &&
                            nodes != nullptr && i > 1 && tokens_[i - 2].end == nodes->end;
    const bool in_each =
        nodes != nullptr && (per_node || multiplied || word_at(next + 1) == "each");
    if (in_each) *count *= std::stol(nodes->count);
    const bool part = !in_each && (word_at(next + 1) == "per" || word_at(next + 1) == "hours" ||
                                   (divided && !word_at(next + 2).empty()));
    // "64 GPUs total"
    const std::size_t last = is_word("all", word_at(next + 1)) ? next + 1 : next;
    if (!thing.empty() && !part) return said(*count, thing, i, last);
    return named ? std::optional(said(*count, "", i, next - 1)) : std::nullopt;
  }

  /// How many "0" of "--gpu 0" and "0,1,2" of "CUDA_VISIBLE_DEVICES=0,1,2" name; 0 for a number.
  long devices_named(std::size_t i, const std::string& thing, bool one) const {
    const std::string noun = counted_noun(thing);
    if (i >= tokens_.size() || (noun != "GPUs" && noun != "devices")) return 0;
    static const std::regex list("[0-9]{1,2}(,[0-9]{1,2})+");
    if (one && tokens_[i].text == "0") return 1;
    return std::regex_match(tokens_[i].text, list) ? std::ranges::count(tokens_[i].text, ',') + 1
                                                   : 0;
  }

  /// "GPUs: 4", "OMP_NUM_THREADS=4", "--threads 4", "-np 8", "-j8", "p=4".
  std::optional<SaidCount> behind_thing(std::size_t i) const {
    std::size_t first = i;
    while (first > 0 && sign_at(first - 1, "-")) --first;
    const bool flag = first < i;
    std::string word = word_at(i);
    if (is_word("percentile", word)) return std::nullopt;
    const std::string digits = word.substr(word.find_last_not_of("0123456789") + 1);
    word.resize(word.size() - digits.size());
    while (!digits.empty() && word.ends_with('_')) word.pop_back();  // "gpus_4"
    const std::string thing = thing_in(word);
    // "p=4", and in names "GPU-MPI4"
    const bool letter =
        is_word("rank_letter", word) && (digits.empty() ? sign_at(i + 1, "=:") : name_);
    const bool option =
        letter || (flag && is_word("count_flag", word) && (word != "n" || launches_));
    if (thing.empty() && !option) return std::nullopt;
    const auto named = [&](long count, std::size_t last) {
      SaidCount one = said(count, thing, first, last);
      if (thing.empty()) one.key = word;
      return one;
    };
    if (!digits.empty()) {  // "-j8", "thread4"
      const auto count = whole_of({'1', digits});
      return count && (option || name_) ? std::optional(named(*count, i)) : std::nullopt;
    }
    std::size_t next = i + 1;
    const bool stated = sign_at(next, "=:");
    if (stated || (name_ && sign_at(next, "-_/"))) ++next;
    // "rank: 3" and "--gpu 1" are the numbers of one.
    const bool may_count = option || singular(thing) != thing || singular(word) != word ||
                           is_word("count_flag", word) || name_;
    const auto count = next < tokens_.size() ? whole_of(tokens_[next]) : std::nullopt;
    const bool one = word.find("visible") != word.npos || (flag && singular(thing) == thing);
    if (const long devices = flag || one ? devices_named(next, thing, one) : 0; devices > 0)
      return named(devices, next);
    const auto behind = cell_number("1 " + word_at(next + 1), Comma::thousands);  // "workers: 12 s"
    const bool rate = !word_at(next + 1).empty() && sign_at(next + 2, "/");  // "nodes: 753 img/s"
    if (!count || !may_count || sign_at(next + 1, "/%") || rate || (behind && behind->unit))
      return std::nullopt;
    return named(*count, next);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  bool name_;
  bool launches_ = false;  // "-n 4" counts ranks
};
}  // namespace

std::vector<SaidCount> counts_said(std::string_view text, bool name) {
  return CountFinder(text, name).all();
}

namespace {
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
  const std::vector<Token> tokens = tokens_of(text);
  if (const auto said = counts_said(text, header); !said.empty()) {
    const SaidCount& one = said.front();
    std::string rest(trimmed(text.substr(0, one.begin), " -_@:,;*`"));
    if (!rest.empty()) rest += ' ';
    rest += trimmed(text.substr(one.end), " -_@:,;*`");
    return NamedCount{one.count, one.noun, std::string(trimmed(rest))};
  }
  const bool sign = tokens.size() == 3 && tokens[1].kind == '.';
  if (!(sign || (header && tokens.size() == 2)) || !is_word("count_letter", tokens[0].text) ||
      (tokens[0].text == "t" && tokens[1].text != "="))
    return std::nullopt;
  const auto count = whole_of(tokens.back());
  if (!count) return std::nullopt;
  return NamedCount{std::to_string(*count), tokens[0].text == "t" ? "threads" : "", ""};
}

/// The count that a header states: "4 cards (tokens/s)", "4", "single", "4*8" of nodes and what
/// each has.
std::optional<NamedCount> count_in(const std::string& header) {
  std::string_view text = trimmed(header, " *`");
  if (text.ends_with(".0")) text.remove_suffix(2);  // "16.0" of a data frame
  const auto tokens = tokens_of(text.substr(0, longest_text));
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

/// "4" of "Parallel (4 workers)" and "4x A100", 1 of "Sequential"; with `name` also of "CPU-4".
std::optional<NamedCount> count_within(const std::string& cell, bool name) {
  if (auto said = said_in(cell, name)) return said;
  if (has_word("serial", all_header_words(cell))) return NamedCount{"1", "", ""};
  return std::nullopt;
}

/// Whether "CPU-1", "CPU-4" may count: 1, 2, 3 number them, and so do the names of hosts.
bool may_be_counts(const std::vector<std::optional<NamedCount>>& said) {
  std::set<long> numbers;
  for (const auto& one : said) {
    if (!one || counted_noun(one->noun) == "nodes") return false;
    numbers.insert(std::stol(one->count));
  }
  return numbers.size() > 1 && *numbers.rbegin() != std::ssize(numbers);
}

/// What each cell counts, by its noun or what else it says; none where all count one thing.
std::vector<std::string> things_counted(const std::vector<std::optional<NamedCount>>& said) {
  std::set<std::string> nouns{""};
  const auto things = mapped(said, [&](const auto& one) {
    const std::string noun = one ? singular(one->noun) : "";
    nouns.insert(noun);
    return one && noun.empty() ? plain_text(one->rest) : noun;
  });
  return nouns.size() > 2 ? things : std::vector<std::string>{};
}

/// Every column but the first is a count, and the rows are named by what they are: a table on its
/// side.
bool lies_on_its_side(const RawTable& table) {
  return std::ranges::any_of(table.rows, [](const RawRow& row) {
    // "Task 3.2" is a program beside counts in the header.
    return named_meaning(cell_text(row.cells.front())).value_or(Meaning::count) != Meaning::count;
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
    const bool benchstat = std::ranges::count(table.columns, "time/op") > 0;
    const bool benchmarks = std::ranges::all_of(alike, [=](const auto& one) {
      return benchstat || one.first.starts_with("Bench") || one.first.starts_with("BM_");
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
  for (std::size_t at = 0; at < 2 * table.columns.size(); ++at) {
    const bool names = at >= table.columns.size();  // after all others
    const std::size_t i = at % table.columns.size();
    auto counts = mapped(table.rows, [&](const RawRow& row) {
      return count_within(cell_text(row.cells[i]), names);
    });
    if (names && !may_be_counts(counts)) continue;
    std::set<std::string> different;
    std::set<std::string> rests;
    std::size_t counted = 0;
    std::string noun = "count";
    for (const auto& count : counts) {
      if (!count) continue;
      ++counted;
      different.insert(count->count);
      rests.insert(count->rest);
      if (!count->noun.empty()) noun = count->noun;
    }
    // "Speedup" below "8 workers" is a row of no count.
    if (different.size() < 2 || (i == 0 ? 6U : 3U) * counted < 2 * table.rows.size()) continue;
    const std::vector<std::string> things = things_counted(counts);
    if (!things.empty()) {
      table.kinds = table.columns[i];
      noun = "count";
    }
    table.columns.insert(table.columns.begin(), noun);
    const bool one_program = rests.size() == 1 && !rests.begin()->empty();
    for (std::size_t row = 0; row < counts.size(); ++row) {
      RawRow& one = table.rows[row];
      const std::string alone = cell_text(one.cells[i]) + "/";
      if (!counts[row] && alone.size() > 1 &&
          rests.contains(alone))  // "BM_sort" beside "BM_sort/threads:2"
        counts[row] = NamedCount{"1", "", alone};
      // What tells rows of one count apart: "BM_sort/", "GPU".
      if (!things.empty())
        one.cells[i] = things[row];
      else if (counts[row] && (different.size() < counted || one_program))
        one.cells[i] = counts[row]->rest.empty() ? "alone" : counts[row]->rest;
      one.cells.insert(one.cells.begin(), counts[row] ? counts[row]->count : "n/a");
    }
    return table;
  }
  return counts_of_like_names(std::move(table));
}

/// Leaves out rows of nothing but shares under counts, "123%" of a processor, beside others.
void leave_out_shares(RawTable& table, const std::vector<std::optional<NamedCount>>& counts) {
  const auto has_shares = [&](const RawRow& row) {
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] && cell_text(row.cells[i]).find('%') == std::string::npos) return false;
    return true;
  };
  if (std::ranges::all_of(table.rows, has_shares)) return;
  if (std::erase_if(table.rows, has_shares) > 0) table.left_out.emplace_back("rows of shares");
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
  // "1.00" of each at the first count
  const auto first = std::ranges::find_if(counts, &std::optional<NamedCount>::has_value);
  const auto of_first = numbers_of(table, static_cast<std::size_t>(first - counts.begin()));
  const auto all_are = [&](double number) {
    return (*first)->count == "1" && std::ranges::count(of_first, number) == std::ssize(of_first);
  };
  if (all_are(100.0) && cell_text(cells.front()).find('%') != std::string::npos)
    return "efficiency";
  if (all_are(1.0) || has_word("speedup_word", all_header_words(table.title))) return "speedup";
  if (said.unit && said.unit->dimension == Dimension::time)
    return fmt::format("time ({})", said.unit_text);
  return said.per_time ? "throughput" : name;
}
}  // namespace

namespace {
using Pair = std::array<std::string, 2>;

/// "79.3" and "75.3" of "79.3/75.3", with a unit that stands behind both; absent for what is no two
/// numbers of one kind.
std::optional<Pair> numbers_of_pair(const RawCell& cell, char sign) {
  const std::string text = cell_text(cell);
  if (is_missing(cell)) return Pair{text, text};
  const std::size_t at = std::min(text.find(sign), text.size());
  Pair pair{text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
  const auto one = cell_number(pair[0], Comma::thousands);
  const auto other = cell_number(pair[1], Comma::thousands);
  if (!one || !other || (one->unit && one->unit != other->unit)) return std::nullopt;
  if (other->unit && !one->unit) pair[0] += " " + other->unit->in_cell.front();
  return pair;
}

/// "current [s]" and "master [s]" of "current / master [s]"; the header and a number where it does
/// not name two.
Pair names_of_pair(const std::string& header, char sign) {
  const std::size_t at = std::min(header.find(sign), header.size());
  const std::string left(trimmed(header.substr(0, at)));
  const std::string right(trimmed(header.substr(at), " /-"));
  const std::size_t end = std::min(right.find_first_of(" (["), right.size());
  if (left.empty() || end == 0 || header_unit(lower_case(right.substr(0, end))))
    return {header + " (1)", header + " (2)"};
  if (names_a_count(left)) return {left, right};
  return {left + right.substr(end), left.substr(0, left.rfind(' ') + 1) + right};
}
}  // namespace

RawTable with_pairs(RawTable table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    for (const char sign : {'/', '-'}) {
      const auto pairs = mapped(
          table.rows, [&](const RawRow& row) { return numbers_of_pair(row.cells[i], sign); });
      Pair names = names_of_pair(table.columns[i], sign);
      const HeaderWords words = header_words(table.columns[i]);
      const bool measures =
          words.unit || words.per_time || has_word("time", words.name) || table.columns.size() == 2;
      const bool counts =
          names_a_count(names[0]) && std::ranges::any_of(header_words(names[1]).name, thing_of);
      const auto missing = [&](const RawRow& row) { return is_missing(row.cells[i]); };
      if (std::ranges::all_of(table.rows, missing) ||
          !std::ranges::all_of(pairs, &std::optional<Pair>::has_value) ||
          (!counts && (sign == '-' || !measures || names_a_count(table.columns[i]))))
        continue;
      std::set<Pair> different;
      std::set<std::string> second;
      const auto behind = static_cast<std::ptrdiff_t>(i) + 1;
      for (std::size_t row = 0; row < pairs.size(); ++row) {
        auto& cells = table.rows[row].cells;
        cells[i] = (*different.insert(*pairs[row]).first)[0];
        cells.insert(cells.begin() + behind, *second.insert((*pairs[row])[1]).first);
      }
      // "1-8", "2-8": of each server.
      if (counts && second.size() < different.size() && names_a_count(names[1]))
        names[1] += " per " + names[0];
      table.columns[i] = names[0];
      table.columns.insert(table.columns.begin() + behind, names[1]);
      break;
    }
  return table;
}

RawTable counts_as_rows(RawTable table) {
  drop_common_divisor(table.columns);
  auto counts = mapped(table.columns, count_in);
  const auto others = std::ranges::count_if(counts, [](const auto& count) { return !count; });
  std::set<std::string> different;
  for (const auto& count : counts)
    if (count) different.insert(count->count);
  const bool has_count = std::ranges::any_of(table.columns, [](const std::string& name) {
    return name.size() > 1 && names_a_count(name) && !count_in(name);
  });
  const bool from_zero = std::ranges::any_of(
      table.columns, [](const std::string& name) { return name.ends_with("=0"); });
  if (different.size() < 2 || others == 0 || from_zero) return counts_of_names(std::move(table));
  const bool all_but_first = !counts.front() && others == 1;
  if (all_but_first && lies_on_its_side(table)) return turned(table, counts);
  if (has_count && !(all_but_first && names_a_count(table.columns.front())))
    return counts_of_names(std::move(table));
  leave_out_shares(table, counts);
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
  result.left_out = table.left_out;
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
}  // namespace scaleworth::cli
