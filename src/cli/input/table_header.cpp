// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <regex>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_columns[];
extern const char scaleworth_asset_columns_end[];
}

namespace scaleworth::cli {
namespace {
/// A sign, and what stands in its place in a cell and in a header; absent: it stays.
struct Sign {
  std::string from;
  std::optional<std::string> cell;
  std::optional<std::string> header;
};

/// What stands in a text that has `where`, and does not have `without`, in place of what `pattern`
/// matches.
struct Rewrite {
  std::string where;
  std::optional<std::string> without;
  std::regex pattern;
  std::string to;
  bool line = false;
};

/// data/columns.toml.
struct Vocabulary {
  std::vector<Sign> signs;
  std::vector<Rewrite> rewrites;
  std::map<std::string, WordList, std::less<>> lists;
  std::vector<Unit> units;
  std::vector<Noun> things;
  std::vector<Noun> work;
  std::map<std::string, ColumnName, std::less<>> names;
};

WordList words_in(std::string_view text) {
  WordList words;
  for (const std::string_view word : split(text, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

/// In the order of Meaning.
constexpr std::array<std::string_view, static_cast<std::size_t>(Meaning::identity) + 1>
    meaning_keys{"count",        "per_node",        "repeat",     "time",
                 "compute",      "communication",   "idle",       "host",
                 "io",           "quality",         "work",       "throughput",
                 "speedup",      "efficiency",      "energy",     "energy_per_work",
                 "power",        "price",           "latency",    "tensor",
                 "pipeline",     "context",         "data",       "expert",
                 "batch",        "replica_batch",   "rank_batch", "micro_batch",
                 "microbatches", "sequence_length", "steps",      "epochs",
                 "identity"};
static_assert(meaning_keys.back() == "identity");  // none is missing before it

Dimension dimension_of(toml_file::Table& row) {
  const std::string name = row.text("dimension");
  if (name == "time") return Dimension::time;
  if (name == "energy") return Dimension::energy;
  if (name != "power") row.refuse("time, energy or power", "dimension");
  return Dimension::power;
}

ColumnName column_name(toml_file::Table& row) {
  const std::string key = row.text("meaning");
  ColumnName known;
  known.load = key == "load";
  known.generic = key == "part_of_time";
  if (known.load) known.choice = choice_of_load;
  if (known.generic) known.choice = choice_of_generic;
  const std::string meaning = known.load ? "count" : known.generic ? "time" : key;
  const auto* const found = std::ranges::find(meaning_keys, meaning);
  if (found == meaning_keys.end()) row.refuse("no meaning of this name", "meaning");
  known.meaning = static_cast<Meaning>(found - meaning_keys.begin());
  if (known.meaning == Meaning::count && !known.load) known.choice = choice_of_letters;
  return known;
}

std::vector<Noun> nouns(toml_file::Table& root, const char* key) {
  std::vector<Noun> all;
  for (toml_file::Table& row : root.tables(key))
    all.push_back({row.text("noun"), words_in(row.text("words")), all.size()});
  return all;
}

Vocabulary parse_vocabulary(std::string_view text) {
  toml_file::Table root = toml_file::Table::parse(text, "data/columns.toml");
  Vocabulary all;
  for (toml_file::Table& row : root.tables("words"))
    all.lists[row.text("use")] = words_in(row.text("list"));
  for (toml_file::Table& row : root.tables("unit"))
    all.units.push_back({row.text("name"),
                         dimension_of(row),
                         row.positive("factor"),
                         words_in(row.text("in_header")),
                         words_in(row.optional_text("in_cell").value_or(""))});
  for (toml_file::Table& row : root.tables("sign"))
    all.signs.push_back({row.text("from"), row.optional_text("cell"), row.optional_text("header")});
  for (toml_file::Table& row : root.tables("rewrite"))
    all.rewrites.push_back({row.text("where"),
                            row.optional_text("without"),
                            std::regex(row.text("pattern")),
                            row.optional_text("to").value_or(""),
                            row.flag("line", false)});
  all.things = nouns(root, "thing");
  all.work = nouns(root, "work");
  for (toml_file::Table& row : root.tables("column")) {
    ColumnName known = column_name(row);
    for (const std::string& name : words_in(row.text("names"))) {
      ++known.choice;
      all.names.emplace(name, known);
    }
  }
  return all;
}

const Vocabulary& vocabulary() {
  static const Vocabulary all = parse_vocabulary(
      {scaleworth_asset_columns,
       static_cast<std::size_t>(scaleworth_asset_columns_end - scaleworth_asset_columns)});
  return all;
}

const Noun* noun_of(const std::vector<Noun>& nouns, const std::string& word) {
  for (const Noun& noun : nouns)
    if (std::ranges::count(noun.words, word) > 0) return &noun;
  return nullptr;
}

/// The bytes of the letter beyond ASCII at the front of `text`: Latin, Cyrillic, kana, Chinese,
/// Korean; 0 for what is no letter, such as signs, arrows and emoji.
std::size_t letter_bytes(std::string_view text) {
  const std::string_view letter = text.substr(0, 2);
  if (letter < "\xC3\x80" || letter == "\xC3\x97") return 0;
  if (letter < "\xE0") return 2;
  return letter > "\xE3\x80\xBF" && letter < "\xEE" ? 3 : 0;
}

/// Whether a word begins with the factor of what it counts: "ktok", "btokens".
bool has_factor(const std::string& word) {
  const std::string counted = word.substr(std::min<std::size_t>(1, word.size()));
  return counted.size() > 2 && work_of(counted) && word.find_first_of("kmbg") == 0 &&
         !work_of(word) && !thing_of(word) && !column_named(word);
}

std::string with_signs(std::string_view text, std::optional<std::string> Sign::*to) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const auto found = std::ranges::find_if(vocabulary().signs, [&](const Sign& sign) {
      return sign.*to && text.substr(i).starts_with(sign.from);
    });
    const bool sign = found != vocabulary().signs.end();
    plain += sign ? *((*found).*to) : std::string(1, text[i]);
    i += sign ? found->from.size() : 1;
  }
  return plain;
}

/// The words of a header, each bracket a list of its own. "/" is "per", "%" is "percent", "$" is
/// "usd"; a word begins at a capital behind two small letters, as in "numGPUs", and behind a
/// factor.
std::vector<WordList> header_groups(std::string_view text) {
  const std::string header = with_signs(text, &Sign::header);
  std::vector<WordList> groups(1);
  std::string word;
  bool bracket = false;
  const auto end_word = [&] {
    while (word.ends_with('.')) word.pop_back();
    // "milli seconds" are one word.
    WordList& words = groups.back();
    if (word.starts_with("sec") && !words.empty() && header_unit(words.back() + "seconds"))
      words.back() += "seconds";
    else if (!word.empty()) {
      const bool factor = has_factor(word);
      if (factor) words.push_back(word.substr(0, 1));
      words.push_back(word.substr(factor ? 1 : 0));
    }
    word.clear();
  };
  const auto add_word = [&](const char* whole) {
    end_word();
    groups.back().push_back(whole);
  };
  for (std::size_t i = 0; i < header.size(); ++i) {
    const char c = header[i];
    const std::string_view rest = std::string_view(header).substr(i);
    if (const std::size_t letter = letter_bytes(rest)) {
      word += rest.substr(0, letter);
      i += letter - 1;
    } else if (c == '/' && word == "i" && rest.size() > 1 && std::tolower(rest[1]) == 'o') {
    } else if (c == '/') {
      add_word("per");
    } else if (c == '(' || c == '[') {
      end_word();
      groups.emplace_back();
      bracket = true;
    } else if ((c == ')' || c == ']') && bracket) {
      end_word();
      groups.emplace_back();
      bracket = false;
    } else if (c == ':' && rest.size() > 1 && header_unit(word) &&
               std::isalpha(static_cast<unsigned char>(rest[1]))) {
      i += std::min(rest.find_first_of(" )]"), rest.size()) - 1;  // "h:mm", numbers of hours first
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' ||
               (c == '^' && !word.empty() && std::isdigit(word.back()))) {
      const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
      const auto small = [&](std::size_t back) {
        return i >= back && std::islower(static_cast<unsigned char>(header[i - back]));
      };
      // "numberOfProcesses"; not "GiB" or "MiEdges".
      if (capital && small(1) && (small(2) || word == "of")) end_word();
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      end_word();
    }
  }
  end_word();
  return groups;
}

/// Whether every word of a bracket says something about units, rates or counts, or it is a rate of
/// whatever; else it is a note, such as "(PyTorch)".
bool says_something(const WordList& words) {
  const auto per = std::ranges::find(words, "per");
  if (per != words.begin() && words.end() - per > 1 && header_unit(per[1])) return true;
  return std::ranges::all_of(words, [](const std::string& word) {
    return word == "per" || header_unit(word) || thing_of(word) || work_of(word) ||
           is_word("all", word) || is_word("percent", word) || is_word("money", word) ||
           is_word("step", word) || is_word("run", word) || is_word("filler", word) ||
           is_word("epoch", word) || is_word("relative", word) || word.ends_with("flops") ||
           word.ends_with("flop");
  });
}

/// Takes "per X" from the front of `words`; returns how many words that is.
std::size_t take_divisor(HeaderWords& header, const WordList& words, std::size_t at) {
  std::size_t next = at + 1;
  while (next < words.size() && (is_word("filler", words[next]) || words[next] == "1")) ++next;
  if (next >= words.size()) return 1;
  const std::string& what = words[next];
  const Unit* const unit = header_unit(what);
  if (unit && unit->dimension == Dimension::time) {
    // "Time/ms" is in milliseconds.
    if (!header.name.empty() && is_word("time", header.name.back())) {
      header.unit = unit;
      header.unit_text = what;
    } else {
      header.per_time = unit;
    }
  } else if (thing_of(what)) {
    // "Threads / Ranks" are two names of one count, "threads / rank" are none.
    const bool either = singular(what) != what && !header.name.empty() &&
                        singular(header.name.back()) != header.name.back();
    if (either && thing_of(what) != thing_of("nodes"))
      header.name.back() = what;
    else
      header.per.push_back(singular(what));
    const Unit* const hour = next + 1 < words.size() ? header_unit(words[next + 1]) : nullptr;
    if (hour && hour->dimension == Dimension::time) {  // "per GPU hour"
      header.per_time = hour;
      ++next;
    }
  } else if (what.starts_with("simulat") && next + 1 < words.size()) {
    header.per.push_back("simulated " + words[++next]);
  } else if (is_word("step", what)) {
    header.basis = Per::step;
  } else if (is_word("run", what) || is_word("epoch", what)) {
    if (header.basis == Per::unstated) header.basis = Per::run;
  } else {
    header.per.push_back(what);
    // "per nanosecond of simulation"
    if (next + 2 < words.size() && words[next + 1] == "of") next += 2;
  }
  return next + 1 - at;
}

/// The unit at the end of the name, or all of it: "time_ms", "seconds".
void take_unit(HeaderWords& header) {
  if (header.unit || header.name.empty()) return;
  // "days/ns" is a time of work, "ns/day" a rate.
  if (header.per_time) {
    const Unit* const longer = header.name.size() == 1 ? header_unit(header.name.front()) : nullptr;
    if (!longer || longer->dimension != Dimension::time ||
        longer->factor <= header.per_time->factor)
      return;
    header.per.push_back(header.per_time->in_header.front());
    header.per_time = nullptr;
  }
  const std::string last = header.name.back();
  const Unit* const unit = header_unit(last);
  const bool alone = header.name.size() == 1;
  const bool divided = header.basis != Per::unstated || !header.per.empty();
  // "p", "s", "h" and "min" alone may be anything.
  const bool whole_word = last.size() > 3 || last == "ms" || last == "sec" || last == "hrs";
  if (!unit || (alone && !divided && !whole_word)) return;
  // "tokens_s" and "it_s" are rates: a time is named after one step, not after what it did.
  const bool rate = header.name.size() == 2 || is_word("of_rate", header.name[0]);
  const std::string& first = header.name[alone ? 0 : header.name.size() - 2];
  const bool of_work = work_of(first) || is_word("bytes", first) ||
                       (is_word("step", first) && (first == "it" || first.ends_with('s')));
  if (rate && !divided && of_work && !thing_of(first) && unit->dimension == Dimension::time &&
      (unit->factor == 1.0 || first == "ns")) {
    header.per_time = unit;
    header.name.pop_back();
    return;
  }
  header.unit = unit;
  header.unit_text = last;
  header.name.pop_back();
  if (alone && unit->dimension != Dimension::energy)  // "hours", "watts_per_gpu"
    header.name.emplace_back(unit->dimension == Dimension::time ? "time" : "power");
}
}  // namespace

const Unit* header_unit(const std::string& word) {
  for (const Unit& unit : vocabulary().units)
    if (std::ranges::count(unit.in_header, word) > 0) return &unit;
  return nullptr;
}

std::string plain_text(std::string_view text) {
  const std::string cell = with_signs(text, &Sign::cell);
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string plain;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto byte = static_cast<unsigned char>(cell[i]);
    const bool mark = std::string_view("*`~$\\").find(cell[i]) != std::string_view::npos;
    // "4*8"
    if (cell[i] == '*' && i > 0 && is_digit(cell[i - 1]) && is_digit(cell[i + 1])) plain += 'x';
    if (!mark) plain += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : ' ';
  }
  return std::string(trimmed(plain));
}

std::string rewritten(std::string text, bool line) {
  for (const Rewrite& one : vocabulary().rewrites)
    if (one.line == line && text.find(one.where) != text.npos &&
        !(one.without && text.find(*one.without) != text.npos))
      text = std::regex_replace(text, one.pattern, one.to);
  return text;
}

bool is_word(std::string_view use, std::string_view word) {
  const auto found = vocabulary().lists.find(use);
  return found != vocabulary().lists.end() && std::ranges::count(found->second, word) > 0;
}

bool has_word(std::string_view use, const WordList& words) {
  return std::ranges::any_of(words, [=](const std::string& word) { return is_word(use, word); });
}

const std::vector<Unit>& table_units() {
  return vocabulary().units;
}

const ColumnName* column_named(const std::string& key) {
  return value_at(vocabulary().names, key);
}

const Noun* work_of(const std::string& word) {
  return noun_of(vocabulary().work, word);
}

const Noun* thing_of(const std::string& word) {
  const auto& things = vocabulary().things;
  if (const Noun* whole = noun_of(things, word)) return whole;
  for (const std::string_view prefix : {"num", "nb", "n"})
    if (word.starts_with(prefix))
      if (const Noun* found = noun_of(things, word.substr(prefix.size()))) return found;
  return nullptr;
}

std::string counted_noun(const std::string& word) {
  const Noun* const thing = thing_of(word);
  return thing ? thing->noun : "";
}

std::string singular(const std::string& word) {
  const bool plural = word.size() > 2 && word.ends_with('s') && !word.ends_with("ss");
  const std::size_t ending = word.ends_with("sses") ? 2 : 1;  // "processes"
  return plural && thing_of(word) ? word.substr(0, word.size() - ending) : word;
}

std::string HeaderWords::key() const {
  return fmt::format("{}", fmt::join(name, "_"));
}

WordList all_header_words(const std::string& header) {
  WordList all;
  for (const WordList& group : header_groups(header))
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

HeaderWords header_words(const std::string& text) {
  HeaderWords header;
  const std::vector<WordList> groups = header_groups(text);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    WordList words = groups[group];
    const bool bracket = group % 2 == 1;
    // "(in s)", "(10^3 s)"
    if (bracket && words.size() == 2 &&
        (is_word("filler", words[0]) || (power_of_ten(words[0]) > 1.0 && header_unit(words[1]))))
      words.erase(words.begin());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string next = i + 1 < words.size() ? words[i + 1] : "";
      // "virtual CPUs", "max steps", "error rate", "min per epoch", "tokens per min"
      const bool of_things =
          thing_of(next) || (i + 2 == words.size() && is_word("step", next)) ||
          (words[i] == "error" && next == "rate") ||
          (i > 0 && next.empty() && words[i].starts_with("err") &&
           is_word("quality", words[i - 1])) ||
          (words[i] == "min" && (next == "per" || (i > 0 && words[i - 1] == "per")));
      if (is_word("not_measured", words[i]) && !of_things && !(bracket && header_unit(words[i])))
        header.not_measured = true;
    }
    if (bracket && words.size() == 1)
      if (const Unit* unit = header_unit(words.front())) {
        header.unit = unit;
        header.unit_text = words.front();
        continue;
      }
    if (bracket && !says_something(words)) {
      // "(steady, ms)" and "(ms, lower is better)"
      for (const std::string& word :
           {words.empty() ? "" : words.back(), words.empty() ? "" : words.front()}) {
        const Unit* const unit = header_unit(word);
        if (!unit || header.unit || word.size() < 2) continue;
        header.unit = unit;
        header.unit_text = word;
      }
      continue;
    }
    for (std::size_t i = 0; i < words.size();) {
      const std::string& word = words[i];
      if (word == "per") {
        i += take_divisor(header, words, i);
        continue;
      }
      header.percent = header.percent || is_word("percent", word);
      header.all_of_them = header.all_of_them || is_word("all", word);
      const bool alone = words.size() == 1 && groups.size() == 1;
      const bool note = bracket && words.size() == 1 && is_word("all", word) && !thing_of(word);
      if ((alone || !is_word("filler", word)) && !is_word("percent", word) && !note)
        header.name.push_back(word);
      ++i;
    }
  }
  take_unit(header);
  return header;
}

double power_of_ten(const std::string& word) {
  for (const auto& [use, factor] :
       {std::pair{"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12}})
    if (is_word(use, word)) return factor;
  std::string digits(trimmed(word, "xs"));
  if (digits.starts_with("10^")) digits.replace(0, 3, "1e");
  const double exponent = std::log10(parse_number<double>(digits).value_or(0.0));
  return exponent > 0.0 && exponent == std::round(exponent) ? std::pow(10.0, exponent) : 1.0;
}

double header_scale(const WordList& words) {
  for (const std::string& word : words) {
    const auto next = words.begin() + (&word - words.data()) + 1;
    const bool plain = word != "1000" && word.find_first_not_of("0123456789") == word.npos;
    const bool counts = word.size() > 1 || next == words.end() || work_of(*next);
    if (counts && !plain && power_of_ten(word) >= 1e3) return power_of_ten(word);
  }
  return 1.0;
}

void drop_common_divisor(WordList& names) {
  const auto of_each = std::ranges::find_if(names, [](const std::string& name) {
    const HeaderWords header = header_words(name);
    return header.name.size() == 1 && thing_of(header.name.front()) && header.per.size() == 1 &&
           !thing_of(header.per.front()) && !work_of(header.per.front());
  });
  const std::size_t slash = of_each == names.end() ? std::string::npos : of_each->find('/');
  if (slash == std::string::npos) return;
  const std::string divisor(trimmed(of_each->substr(slash + 1)));
  for (std::string& name : names)
    if (const std::size_t at = name.find('/');
        trimmed(name.substr(std::min(at, name.size()))).ends_with(divisor))
      name = std::string(trimmed(name.substr(0, at)));
}
}  // namespace scaleworth::cli
