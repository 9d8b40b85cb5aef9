// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <map>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_columns[];
extern const char scaleworth_asset_columns_end[];
}

namespace scaleworth::cli {
namespace {
using toml_file::printable;
using WordList = std::vector<std::string>;

/// What is counted, or what a rate is of: "GPUs" by "gpu", "gpus" ...
struct Noun {
  std::string noun;
  WordList words;
};

struct KnownName {
  Meaning meaning = Meaning::count;
  std::size_t choice = 0;
  bool load = false;
  bool generic = false;
};

/// Behind all names of one meaning stand loads, and times of parts of a program.
constexpr std::size_t choice_of_steps = 60;
constexpr std::size_t choice_of_things = 100;
constexpr std::size_t choice_of_generic = 200;
constexpr std::size_t choice_of_letters = 300;  // "p", "n", which may be a size
constexpr std::size_t choice_of_load = 500;

/// data/columns.toml.
struct Vocabulary {
  std::map<std::string, WordList, std::less<>> lists;
  std::vector<Unit> units;
  std::vector<Noun> things;
  std::vector<Noun> work;
  std::map<std::string, KnownName, std::less<>> names;
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
                 "microbatches", "sequence_length", "steps",      "identity"};

Dimension dimension_of(toml_file::Table& row) {
  const std::string name = row.text("dimension");
  if (name == "time") return Dimension::time;
  if (name == "energy") return Dimension::energy;
  if (name != "power") row.refuse("time, energy or power", "dimension");
  return Dimension::power;
}

KnownName known_name(toml_file::Table& row) {
  const std::string key = row.text("meaning");
  KnownName known;
  known.load = key == "load";
  known.generic = key == "part_of_time";
  if (known.load) known.choice = choice_of_load;
  if (known.generic) known.choice = choice_of_generic;
  const std::string_view meaning = known.load ? "count" : known.generic ? "time" : key;
  const auto* const found = std::ranges::find(meaning_keys, meaning);
  if (found == meaning_keys.end()) row.refuse("no meaning of this name", "meaning");
  known.meaning = static_cast<Meaning>(found - meaning_keys.begin());
  if (known.meaning == Meaning::count && !known.load) known.choice = choice_of_letters;
  return known;
}

std::vector<Noun> nouns(toml_file::Table& root, const char* key) {
  std::vector<Noun> all;
  for (toml_file::Table& row : root.tables(key))
    all.push_back({row.text("noun"), words_in(row.text("words"))});
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
  all.things = nouns(root, "thing");
  all.work = nouns(root, "work");
  for (toml_file::Table& row : root.tables("column")) {
    KnownName known = known_name(row);
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

const Unit* header_unit(const std::string& word) {
  for (const Unit& unit : vocabulary().units)
    if (std::ranges::count(unit.in_header, word) > 0) return &unit;
  return nullptr;
}

const Noun* noun_of(const std::vector<Noun>& nouns, const std::string& word) {
  for (const Noun& noun : nouns)
    if (std::ranges::count(noun.words, word) > 0) return &noun;
  return nullptr;
}

/// Of "gpus", and of "ngpus" and "numgpus".
const Noun* thing_of(std::string word) {
  const auto& things = vocabulary().things;
  if (const Noun* whole = noun_of(things, word)) return whole;
  for (const std::string_view prefix : {"num", "n"})
    if (word.starts_with(prefix))
      if (const Noun* found = noun_of(things, word.substr(prefix.size()))) return found;
  return nullptr;
}

WordList all_words(const std::vector<WordList>& groups) {
  WordList all;
  for (const WordList& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

std::string joined(const WordList& words) {
  return fmt::format("{}", fmt::join(words, "_"));
}

/// A header taken apart.
struct HeaderWords {
  WordList name;                   // what it is, without fillers, units and what it is divided by
  const Unit* unit = nullptr;      // null where it states none
  std::string unit_text;           // as it stands there
  const Unit* per_time = nullptr;  // "/s"
  WordList per;                    // "gpu", "tok": what else it is divided by
  Per basis = Per::unstated;
  bool percent = false;
  bool all_of_them = false;  // "total"
  bool not_measured = false;

  std::string key() const { return joined(name); }
};

/// The words of a header, each bracket a list of its own. "/" is "per", "%" is "percent", "$" is
/// "usd"; a word begins at a capital behind two small letters, as in "numGPUs".
std::vector<WordList> header_groups(std::string_view header) {
  std::vector<WordList> groups(1);
  std::string word;
  bool bracket = false;
  const auto end_word = [&] {
    while (word.ends_with('.')) word.pop_back();
    if (!word.empty()) groups.back().push_back(word);
    word.clear();
  };
  const auto add_word = [&](const char* whole) {
    end_word();
    groups.back().push_back(whole);
  };
  for (std::size_t i = 0; i < header.size(); ++i) {
    const char c = header[i];
    const std::string_view rest = header.substr(i);
    if (rest.starts_with("\xC2\xB5") || rest.starts_with("\xCE\xBC")) {  // micro signs
      word += 'u';
      ++i;
    } else if (rest.starts_with("\xE2\x82\xAC")) {
      add_word("eur");
      i += 2;
    } else if (c == '/' && word == "i" && rest.size() > 1 && std::tolower(rest[1]) == 'o') {
    } else if (c == '/') {
      add_word("per");
    } else if (c == '%') {
      add_word("percent");
    } else if (c == '$') {
      add_word("usd");
    } else if (c == '(' || c == '[') {
      end_word();
      groups.emplace_back();
      bracket = true;
    } else if ((c == ')' || c == ']') && bracket) {
      end_word();
      groups.emplace_back();
      bracket = false;
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+') {
      const bool capital = std::isupper(static_cast<unsigned char>(c)) != 0;
      const auto small = [&](std::size_t back) {
        return i >= back && std::islower(static_cast<unsigned char>(header[i - back]));
      };
      if (capital && small(1) && small(2)) end_word();
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
  if (words.size() > 2 && words[1] == "per" && header_unit(words[2])) return true;
  return std::ranges::all_of(words, [](const std::string& word) {
    return word == "per" || header_unit(word) || thing_of(word) ||
           noun_of(vocabulary().work, word) || is_word("all", word) || is_word("percent", word) ||
           is_word("money", word) || is_word("step", word) || is_word("run", word) ||
           is_word("filler", word) || is_word("epoch", word) || word.ends_with("flops") ||
           word.ends_with("flop");
  });
}

std::string singular(const std::string& word) {
  const bool plural = word.size() > 2 && word.ends_with('s');
  return plural && thing_of(word) ? word.substr(0, word.size() - 1) : word;
}

/// Takes "per X" from the front of `words`; returns how many words that is.
std::size_t take_divisor(HeaderWords& header, const WordList& words, std::size_t at) {
  std::size_t next = at + 1;
  while (next < words.size() && (is_word("filler", words[next]) || words[next] == "1")) ++next;
  if (next >= words.size()) return 1;
  const std::string& what = words[next];
  const Unit* const unit = header_unit(what);
  if (unit && unit->dimension == Dimension::time) {
    header.per_time = unit;
  } else if (thing_of(what)) {
    header.per.push_back(singular(what));
    const Unit* const hour = next + 1 < words.size() ? header_unit(words[next + 1]) : nullptr;
    if (hour && hour->dimension == Dimension::time) {  // "per GPU hour"
      header.per_time = hour;
      ++next;
    }
  } else if (is_word("step", what)) {
    header.basis = Per::step;
  } else if (is_word("run", what) || is_word("epoch", what)) {
    if (header.basis == Per::unstated) header.basis = Per::run;
  } else {
    header.per.push_back(what);
  }
  return next + 1 - at;
}

/// The unit at the end of the name, or all of it: "time_ms", "seconds".
void take_unit(HeaderWords& header) {
  if (header.unit || header.name.empty() || header.per_time) return;
  const std::string last = header.name.back();
  const Unit* const unit = header_unit(last);
  const bool alone = header.name.size() == 1;
  const bool divided = header.basis != Per::unstated || !header.per.empty();
  // "p", "s", "h" and "min" alone may be anything.
  const bool whole_word = last.size() > 3 || last == "ms" || last == "sec" || last == "hrs";
  if (!unit || (alone && !divided && !whole_word)) return;
  header.unit = unit;
  header.unit_text = last;
  header.name.pop_back();
  if (alone && unit->dimension == Dimension::time) header.name.emplace_back("time");
}

HeaderWords header_words(const std::string& text) {
  HeaderWords header;
  const std::vector<WordList> groups = header_groups(text);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const WordList& words = groups[group];
    const bool bracket = group % 2 == 1;
    header.not_measured =
        header.not_measured || std::ranges::any_of(words, [&](const std::string& word) {
          return is_word("not_measured", word) && !(bracket && header_unit(word));
        });
    if (bracket && words.size() == 1)
      if (const Unit* unit = header_unit(words.front())) {
        header.unit = unit;
        header.unit_text = words.front();
        continue;
      }
    if (bracket && !says_something(words)) continue;
    for (std::size_t i = 0; i < words.size();) {
      const std::string& word = words[i];
      if (word == "per") {
        i += take_divisor(header, words, i);
        continue;
      }
      header.percent = header.percent || is_word("percent", word);
      header.all_of_them = header.all_of_them || is_word("all", word);
      if (!is_word("filler", word) && !is_word("percent", word)) header.name.push_back(word);
      ++i;
    }
  }
  take_unit(header);
  return header;
}

/// "p99", "p99.9"; "p50" for the median; "mean".
std::optional<std::string> percentile_of(std::string_view word) {
  if (word == "median") return "p50";
  if (word == "mean" || word == "avg") return "mean";
  if (word.size() < 2 || word.size() > 6 || word.front() != 'p') return std::nullopt;
  const bool number = word.find_first_not_of("0123456789.", 1) == std::string_view::npos;
  return number ? std::optional<std::string>(word) : std::nullopt;
}

/// "ttft_p99" of "p99_ttft" and "ttft_p99", "ttft_p50" of "median_ttft"; absent for anything else.
std::optional<std::string> latency_words(const std::string& text, const HeaderWords& header) {
  WordList words = all_words(header_groups(text));
  std::erase_if(words, [&](const std::string& word) { return word == header.unit_text; });
  std::optional<std::string> percentile;
  std::string subject;
  bool named = false;
  for (const std::string& word : words) {
    if (const auto found = percentile_of(word); found && !percentile) {
      percentile = found;
    } else if (is_word("latency", word)) {
      named = true;
      if (word != "latency") subject = word + "_";
    } else {
      return std::nullopt;
    }
  }
  const bool plain = !named && percentile && percentile->front() != 'p';
  const bool word_alone = !named && words.size() == 1 && words.front().front() != 'p';
  if (!percentile || plain || word_alone) return std::nullopt;
  return subject + *percentile;
}

/// States the column's unit; of a time it may be stated by the cells.
void set_unit(TableColumn& column,
              const HeaderWords& header,
              Dimension dimension,
              const std::string& place) {
  column.dimension = dimension;
  if (dimension == Dimension::none) return;
  if (header.unit && header.unit->dimension == dimension) {
    if (header.unit_text == "mj")
      refuse_column(place, column, "may be mega- or millijoules; write it in kj or j");
    column.factor = header.unit->factor;
    column.unit = header.unit->name;
    return;
  }
  if (dimension == Dimension::time && column.meaning != Meaning::latency) return;
  std::string known;
  for (const Unit& unit : vocabulary().units)
    if (unit.dimension == dimension) known += (known.empty() ? "" : ", ") + unit.in_header.front();
  refuse_column(place,
                column,
                fmt::format("has no unit; write it into the header, as {}_{} (known: {})",
                            printable(header.key()),
                            known.substr(0, known.find(',')),
                            known));
}

/// FLOP/s, of whatever: the factor of "tflops", "PFLOP", "teraflops".
std::optional<double> flops_factor(const WordList& name) {
  for (std::string word : name) {
    if (word == "peak") return std::nullopt;
    for (const std::string_view ending : {"flops", "flop"}) {
      if (!word.ends_with(ending)) continue;
      const std::string prefix = word.substr(0, word.size() - ending.size());
      constexpr std::array<std::pair<std::string_view, double>, 6> prefixes{
          {{"g", 1e9}, {"t", 1e12}, {"p", 1e15}, {"giga", 1e9}, {"tera", 1e12}, {"peta", 1e15}}};
      const auto* const found =
          std::ranges::find(prefixes, prefix, &std::pair<std::string_view, double>::first);
      return found == prefixes.end() ? 1.0 : found->second;
    }
  }
  return std::nullopt;
}

/// What the work of a rate is counted in: "tokens" of "throughput tok"; else its last word.
std::string work_noun(const WordList& name) {
  for (const std::string& word : name)
    if (const Noun* noun = noun_of(vocabulary().work, word)) return noun->noun;
  WordList rest = name;
  std::erase_if(rest, [](const std::string& word) {
    return is_word("all", word) || thing_of(word) || vocabulary().names.contains(word);
  });
  return rest.empty() ? "" : rest.back();
}

bool counts_bytes(const WordList& name) {
  return std::ranges::any_of(name, [](const std::string& word) {
    return word.find("byte") != std::string::npos || word.ends_with("gb") || word.ends_with("mb") ||
           word == "gib" || word == "gbps" || word == "bandwidth";
  });
}

/// Parts of an unknown peak: model FLOPs utilisation.
bool is_utilisation(const HeaderWords& header) {
  WordList name = header.name;
  std::erase(name, "bf16");
  return name.size() == 1 && (name.front() == "mfu" || name.front() == "hfu");
}

/// A rate of work; absent where the words are none.
std::optional<TableColumn> rate_column(const HeaderWords& header) {
  TableColumn rate;
  rate.meaning = Meaning::throughput;
  const auto of_rank = std::ranges::find_if(
      header.per, [](const std::string& word) { return thing_of(word) != nullptr; });
  rate.per_rank = of_rank != header.per.end();
  if (rate.per_rank) rate.rank = *of_rank;
  rate.all_of_them = header.all_of_them;
  if (header.per.size() > (rate.per_rank ? 1U : 0U)) return std::nullopt;
  for (const std::string& word : header.name) {
    const bool names_one = thing_of(word) && !is_word("all", word);
    if (names_one && !rate.per_rank && !header.all_of_them) rate.of_one_or_all = true;
  }
  const auto choice = [&](std::size_t number) {
    rate.choice = number;
    return rate;
  };
  if (const auto factor = flops_factor(header.name)) {
    rate.flops = true;
    rate.factor = *factor;
    rate.work_noun = "FLOP";
    rate.of_one_or_all = !rate.per_rank && !rate.all_of_them;
    return choice(3);
  }
  if (is_utilisation(header)) {
    rate.per_rank = rate.relative = true;
    if (header.percent) rate.factor = 0.01;
    return choice(4);
  }
  const std::string name = header.key();
  const KnownName* known = value_at(vocabulary().names, name);
  if (name == "tgs") rate.per_rank = true;  // tokens per GPU and second
  rate.work_noun = work_noun(header.name);
  if (header.per_time) {
    const bool money = std::ranges::any_of(
        header.name, [](const std::string& word) { return is_word("money", word); });
    if (header.name.empty() || money || counts_bytes(header.name)) return std::nullopt;
    rate.factor = 1.0 / header.per_time->factor;
    const bool of_steps = std::ranges::all_of(header.name, [](const std::string& word) {
      return is_word("step", word) || is_word("all", word) || word == "speed" ||
             word == "throughput";
    });
    if (!of_steps || rate.work_noun.empty()) return choice(2);
    // Steps per second are a time of one step, upside down.
    rate.meaning = Meaning::time;
    rate.dimension = Dimension::time;
    rate.inverse = true;
    rate.factor = header.per_time->factor;
    rate.per = Per::step;
    rate.unit = "steps per second";
    return choice(choice_of_things);
  }
  if (header.unit) return std::nullopt;
  if (known && known->meaning == Meaning::throughput) return choice(known->choice > 1 ? 2 : 1);
  const bool throughput = std::ranges::count(header.name, "throughput") > 0;
  return throughput ? std::optional(choice(2)) : std::nullopt;
}

/// "$/GPU/h", "Price per hour", "on-demand price ($/hr)", "usd_per_hour".
std::optional<TableColumn> price_column(const HeaderWords& header) {
  const auto is_money = [](const std::string& word) { return is_word("money", word); };
  const auto other = [&](const std::string& word) {
    return !is_money(word) && !thing_of(word) && !is_word("price", word);
  };
  if (!std::ranges::any_of(header.name, is_money) || std::ranges::any_of(header.name, other))
    return std::nullopt;
  const bool price = std::ranges::count(header.name, "price") > 0;
  const bool hourly = std::ranges::count(header.name, "hourly") > 0 ||
                      (header.unit && header.unit->name == "hours");
  if (!header.per_time && !price && !hourly) return std::nullopt;
  TableColumn column;
  column.meaning = Meaning::price;
  if (header.per_time) column.factor = 3600.0 / header.per_time->factor;
  WordList of = header.per;
  std::ranges::copy_if(header.name, std::back_inserter(of), thing_of);
  column.rank = of.empty() ? "" : singular(of.front());
  // As this program has always named it.
  const std::string key = header.key();
  if (header.per_time && (key == "usd" || key == "rate_usd" || key == "price_usd") && of.empty())
    column.rank = "rank";
  return column;
}

/// "# GPUs", "number of nodes", "H100 GPUs", "gpu_num": the noun; null for anything else.
const Noun* counted_thing(const HeaderWords& header) {
  if (header.unit || header.per_time || header.percent || header.basis != Per::unstated)
    return nullptr;
  const Noun* thing = nullptr;
  for (const std::string& word : header.name) {
    const bool digits = word.find_first_of("0123456789") != std::string::npos;
    if (is_word("number", word) || (digits && !thing_of(word))) continue;
    const Noun* const found = thing_of(word);
    if (!found) return nullptr;
    // Of "GPU nodes" and "CPU cores" the last is counted.
    thing = found;
  }
  return thing;
}

std::optional<TableColumn> count_column(const HeaderWords& header) {
  const Noun* const thing = counted_thing(header);
  if (!thing) return std::nullopt;
  TableColumn column;
  column.noun = thing->noun;
  column.choice = choice_of_things + static_cast<std::size_t>(thing - vocabulary().things.data());
  column.nodes = thing->noun == "nodes" || thing->noun == "slices";
  const std::string& last = header.name.back();
  column.singular = header.name.size() == 1 && singular(last) == last;
  if (header.per.empty()) return column;
  if (header.per.size() > 1 || thing_of(header.per.front()) != thing_of("node"))
    return std::nullopt;
  column.meaning = Meaning::per_node;
  column.nodes = false;
  return column;
}

/// A batch of one GPU, of one replica, of all.
std::optional<TableColumn> batch_of_rank(const HeaderWords& header) {
  if (header.per.size() != 1 || !thing_of(header.per.front())) return std::nullopt;
  const auto* const known = value_at(vocabulary().names, header.key());
  if (!known || (known->meaning != Meaning::batch && known->meaning != Meaning::micro_batch))
    return std::nullopt;
  TableColumn column;
  column.meaning = Meaning::rank_batch;
  column.rank = header.per.front();
  return column;
}

bool names_a_time(const WordList& name) {
  return std::ranges::any_of(name, [](const std::string& word) { return is_word("time", word); });
}

/// By the name as a whole, then without "total" and the like.
const KnownName* known_by_name(const HeaderWords& header, std::string& key) {
  key = header.key();
  for (const std::string& other : header.per) key += "_per_" + other;
  if (const auto* known = value_at(vocabulary().names, key)) return known;
  WordList rest = header.name;
  std::erase_if(rest, [](const std::string& word) { return is_word("all", word); });
  if (!header.per.empty() || rest.empty()) return nullptr;
  return value_at(vocabulary().names, joined(rest));
}

/// The meaning of a name that the vocabulary lists, or of any "... time" with a unit.
std::optional<TableColumn> named_column(const HeaderWords& header,
                                        const std::string& place,
                                        const std::string& text) {
  std::string key;
  const KnownName* const known = known_by_name(header, key);
  TableColumn column;
  column.name = text;
  const bool time_of_step = header.unit && header.unit->dimension == Dimension::time &&
                            header.basis != Per::unstated && known &&
                            known->meaning == Meaning::throughput;  // "Speed (s/it)"
  const bool some_time = !known && header.per.empty() && header.unit &&
                         header.unit->dimension == Dimension::time && names_a_time(header.name);
  if (time_of_step || some_time) {
    column.meaning = Meaning::time;
    column.generic = some_time;
    column.choice = some_time ? choice_of_generic + 50 : choice_of_things;
  } else if (known) {
    column.meaning = known->meaning;
    column.choice = known->choice;
    column.load = known->load;
    if (known->load && key.find("user") != std::string::npos) column.noun = "users";
    column.generic = known->generic;
  } else {
    return std::nullopt;
  }
  constexpr auto time_first = Meaning::time;
  const bool is_time = column.meaning >= time_first && column.meaning <= Meaning::io;
  // A total without a unit may be that of anything.
  if (key == "total" && !header.unit) return std::nullopt;
  // A host without a unit is a machine's name.
  if (column.meaning == Meaning::host && !header.unit) return std::nullopt;
  if (column.meaning == Meaning::work && header.basis != Per::unstated) return std::nullopt;
  if (header.percent && column.meaning != Meaning::efficiency && column.meaning != Meaning::quality)
    return std::nullopt;
  const Dimension dimension = is_time                             ? Dimension::time
                              : column.meaning == Meaning::energy ? Dimension::energy
                              : column.meaning == Meaning::power  ? Dimension::power
                                                                  : Dimension::none;
  if (dimension == Dimension::none && header.unit) return std::nullopt;
  set_unit(column, header, dimension, place);
  if (column.meaning == Meaning::work) column.work_noun = work_noun(header.name);
  const bool step = std::ranges::all_of(header.name,
                                        [](const std::string& word) {
                                          return is_word("step", word) || is_word("time", word) ||
                                                 word == "training" || word == "train";
                                        }) &&
                    std::ranges::any_of(
                        header.name, [](const std::string& word) { return is_word("step", word); });
  column.per = step ? Per::step : header.basis;
  // Of a run and of a step the run is the whole.
  if (column.meaning == Meaning::time && column.per == Per::step) column.choice += choice_of_steps;
  column.epoch = std::ranges::any_of(
      header.name, [](const std::string& word) { return is_word("epoch", word); });
  column.unclear_batch = column.meaning == Meaning::batch &&
                         key.find("global") == std::string::npos &&
                         key.find("total") == std::string::npos && key != "gbs" &&
                         key.find("effective") == std::string::npos;
  return column;
}

/// What a column of numbers is, without its name.
std::optional<TableColumn> meaning_of(const std::string& text,
                                      const HeaderWords& header,
                                      const std::string& place) {
  TableColumn column;
  column.name = text;
  const bool energy = header.unit && header.unit->name == "J" && header.per.size() == 1;
  if (energy && header.key().empty()) {
    column.meaning = Meaning::energy_per_work;
    return column;
  }
  if (auto latency = latency_words(text, header)) {
    column.meaning = Meaning::latency;
    column.latency = std::move(*latency);
    set_unit(column, header, Dimension::time, place);
    return column;
  }
  const bool of_linear = header.percent && header.name.size() == 1;
  if (header.not_measured && !of_linear) return std::nullopt;
  if (auto price = price_column(header)) return price;
  // "ms/token": a rate, upside down.
  const bool time_of_work = header.unit && header.unit->dimension == Dimension::time &&
                            header.per.size() == 1 &&
                            noun_of(vocabulary().work, header.per.front());
  if (time_of_work && (header.key() == "time" || header.key().empty())) {
    column.meaning = Meaning::throughput;
    column.inverse = true;
    column.factor = 1.0 / header.unit->factor;
    column.choice = 2;
    column.work_noun = noun_of(vocabulary().work, header.per.front())->noun;
    return column;
  }
  if (auto batch = batch_of_rank(header)) return batch;
  if (auto rate = rate_column(header)) return rate;
  // "gpu" counts or names machines, as its cells say.
  if (auto count = count_column(header)) return count;
  return named_column(header, place, text);
}
}  // namespace

bool is_word(std::string_view use, std::string_view word) {
  const auto found = vocabulary().lists.find(use);
  return found != vocabulary().lists.end() && std::ranges::count(found->second, word) > 0;
}

const std::vector<Unit>& table_units() {
  return vocabulary().units;
}

bool names_work(const std::string& word) {
  return noun_of(vocabulary().work, word) != nullptr;
}

std::string counted_noun(const std::string& word) {
  const Noun* const thing = thing_of(word);
  return thing ? thing->noun : "";
}

void refuse_column(const std::string& place, const TableColumn& column, const std::string& what) {
  throw UserError("{}: column '{}' {}", place, printable(column.name), what);
}

std::optional<TableColumn> table_column(const std::string& text, const std::string& place) {
  const HeaderWords header = header_words(text);
  if (header.name.empty() && !header.unit && !header.per_time) return std::nullopt;
  auto column = meaning_of(text, header, place);
  if (column) {
    column->name = text;
    column->percent = header.percent;
    column->weak = column->strong = false;
    for (const std::string& word : all_words(header_groups(text))) {
      column->weak = column->weak || is_word("weak", word);
      column->strong = column->strong || is_word("strong", word);
    }
  }
  return column;
}

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s (step_s for one step), compute_s, comm_s, "
         "idle_s, host_s, io_s, repeat, quality, work (or items, tokens), tokens_per_s or another "
         "rate, rate_usd_per_hour, energy_j, power_w, p99_ms or ttft_p99_ms, tp, pp, cp, dp, "
         "batch, microbatches; times in us, ms, s, min, h or days";
}
}  // namespace scaleworth::cli
