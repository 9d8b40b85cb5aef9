// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <map>
#include <set>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

constexpr std::size_t choice_of_steps = 60;
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
  WordList words = all_header_words(text);
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

/// States the column's unit, which its cells may state as well.
void set_unit(TableColumn& column,
              const HeaderWords& header,
              Dimension dimension,
              const std::string& place) {
  column.dimension = dimension;
  if (header.unit && header.unit->dimension == dimension) {
    if (header.unit_text == "mj")
      refuse_column(place, column, "may be mega- or millijoules; write it in kj or j");
    column.factor = header.unit->factor;
    column.unit = header.unit->name;
  }
}

/// FLOP/s, of whatever: the factor of "tflops", "PFLOP", "teraflops".
std::optional<double> flops_factor(const WordList& name) {
  for (std::string word : name) {
    if (word == "peak") return std::nullopt;
    for (const std::string_view ending : {"flops", "flop"}) {
      if (!word.ends_with(ending)) continue;
      const std::string prefix = word.substr(0, word.size() - ending.size());
      if (prefix.size() != 1 && !prefix.ends_with('a')) return 1.0;
      const std::size_t power = std::string_view(" kmgtp").find(prefix.front());
      return power < 6 ? std::pow(1e3, power) : 1.0;
    }
  }
  return std::nullopt;
}

/// What the work of a rate is counted in: "tokens" of "throughput tok"; else its last word.
std::string work_noun(const WordList& name) {
  for (const std::string& word : name)
    if (const Noun* noun = work_of(word)) return noun->noun;
  WordList rest = name;
  std::erase_if(rest, [](const std::string& word) {
    return has_digit(word) || is_word("all", word) || is_word("precision", word) ||
           thing_of(word) || column_named(word) || power_of_ten(word) > 1.0;
  });
  return rest.empty() ? "" : rest.back();
}

/// "MB" of "Bandwidth (MB/s)"; absent where no bytes are counted.
std::optional<std::string> counted_bytes(const WordList& name) {
  const auto found =
      std::ranges::find_if(name, [](const std::string& word) { return is_word("bytes", word); });
  if (found == name.end()) return std::nullopt;
  std::string unit = *found;
  if (unit.size() > 3) return "bytes";
  unit.front() = static_cast<char>(std::toupper(unit.front()));
  unit.back() = 'B';
  return unit;
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
  if (is_word("utilisation", header.key())) {  // parts of an unknown peak
    rate.per_rank = rate.relative = true;
    if (header.percent) rate.factor = 0.01;
    return choice(4);
  }
  HeaderWords whole = header;  // "total qps"
  std::erase_if(whole.name, [](const std::string& word) { return is_word("all", word); });
  const std::string name = whole.key();
  const ColumnName* known = column_named(name);
  rate.work_noun = work_noun(header.name);
  if (name == "tgs") rate.work_noun = "tokens";  // per GPU and second
  if (name == "tgs") rate.per_rank = true;
  const bool per_day = name == "sypd" || name == "sdpd";
  if (per_day) rate.work_noun = name == "sypd" ? "simulated years" : "simulated days";
  if (per_day) rate.factor = 1.0 / 86400.0;
  if (has_word("relative", header.name) && (known || !rate.work_noun.empty())) {
    rate.meaning = Meaning::speedup;
    return choice(1);
  }
  if (header.per_time) {
    // What an hour of a GPU costs, in whatever: "SU per GPU-hour".
    const bool price = rate.per_rank && header.per_time->factor > 60.0 && !known &&
                       !has_word("step", header.name) && !std::ranges::any_of(header.name, work_of);
    if (header.name.empty() || has_word("money", header.name) || price) return std::nullopt;
    rate.factor = 1.0 / header.per_time->factor;
    // Moving data is the work of some programs; beside another measure it is only how they do it.
    if (const auto bytes = counted_bytes(header.name)) {
      rate.work_noun = *bytes;
      return choice(choice_of_things);
    }
    const bool of_steps = std::ranges::all_of(header.name, [](const std::string& word) {
      return is_word("step", word) || is_word("all", word) || is_word("of_run", word) ||
             word == "speed" || word == "throughput";
    });
    if (!of_steps || !has_word("step", header.name)) return choice(2);
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
  const bool throughput = std::ranges::count(header.name, "throughput") > 0 &&
                          std::ranges::count(header.name, "speedup") == 0;
  return throughput ? std::optional(choice(2)) : std::nullopt;
}

/// "$/GPU/h", "Price per hour", "on-demand price ($/hr)", "usd_per_hour".
std::optional<TableColumn> price_column(const HeaderWords& header) {
  const Unit* period = header.per_time ? header.per_time : header.unit;
  for (const std::string& word : header.name) {
    const Unit* const unit = header_unit(word);  // "monthly"
    if (unit && unit->dimension == Dimension::time)
      period = unit;
    else if (!is_word("money", word) && !thing_of(word) && !is_word("price", word))
      return std::nullopt;
  }
  const bool price =
      period ? period->dimension == Dimension::time : std::ranges::count(header.name, "price") > 0;
  if (!price || !has_word("money", header.name) || has_word("credit", header.name))
    return std::nullopt;
  TableColumn column;
  column.meaning = Meaning::price;
  if (period) column.factor = 3600.0 / period->factor;
  if (has_word("cents", header.name)) column.factor *= 0.01;
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
    if (is_word("number", word) || (has_digit(word) && !thing_of(word))) continue;
    const Noun* const found = thing_of(word);
    // "Request Threads"
    const bool kind = !found && &word == &header.name.front() && header.name.size() == 2 &&
                      thing_of(header.name[1]) && singular(header.name[1]) != header.name[1];
    if (kind) continue;
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
  column.choice = choice_of_things + thing->place;
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
  const auto* const known = column_named(header.key());
  if (!known || (known->meaning != Meaning::batch && known->meaning != Meaning::micro_batch))
    return std::nullopt;
  TableColumn column;
  column.meaning = Meaning::rank_batch;
  column.rank = header.per.front();
  return column;
}

/// By the name as a whole, then without "total" and the like.
const ColumnName* known_by_name(const HeaderWords& header, std::string& key) {
  key = header.key();
  for (const std::string& other : header.per) key += "_per_" + other;
  if (const auto* known = column_named(key)) return known;
  // "Time elapsed" is a time.
  if (header.per.empty() && header.name.size() > 1 &&
      std::ranges::all_of(header.name, [](const std::string& word) {
        return is_word("time", word) || is_word("all", word);
      }))
    return column_named("time");
  // "Scaling vs TP=1" is a scaling.
  HeaderWords base = header;
  // "Mixed precision training time" is a training time.
  for (std::size_t from = 1; header.per.empty() && from + 1 < header.name.size(); ++from) {
    base.name.assign(header.name.begin() + static_cast<std::ptrdiff_t>(from), header.name.end());
    const auto* const ending = column_named(base.key());
    if (ending && ending->meaning == Meaning::time && !ending->generic) return ending;
  }
  base.name = header.name;
  const auto versus = std::ranges::find_if(
      base.name, [](const std::string& word) { return is_word("versus", word); });
  base.name.erase(versus, base.name.end());
  const auto* const compared =
      base.name.size() < header.name.size() ? column_named(base.key()) : nullptr;
  if (compared &&
      (compared->meaning == Meaning::speedup || compared->meaning == Meaning::efficiency))
    return compared;
  // "Speedup_blocked" and "MPI Speedup" are of one of several programs.
  static const ColumnName of_one{Meaning::speedup, choice_of_generic, false, true};
  if (header.name.size() > 1 && header.name.size() < 4 &&
      std::ranges::count(header.name, "speedup") == 1 &&
      std::ranges::none_of(header.name, [](const std::string& word) {
        return work_of(word) || thing_of(word) || parse_number<double>(word).has_value();
      }))
    return &of_one;
  HeaderWords rest = header;
  std::erase_if(rest.name, [](const std::string& word) { return is_word("all", word); });
  if (!header.per.empty() || rest.name.empty()) return nullptr;
  if (const auto* const known = column_named(rest.key())) return known;
  // "tokens_b", "billion tokens"
  std::erase_if(rest.name, [](const std::string& word) { return header_scale({word}) != 1.0; });
  const auto* const scaled = column_named(rest.key());
  if (scaled && scaled->meaning == Meaning::work) return scaled;
  // "consumed_train_samples", "trainer/global_step"
  std::erase_if(rest.name, [](const std::string& word) { return is_word("of_run", word); });
  const std::string what = header.unit ? "" : rest.key();
  const bool all_steps = is_word("step", what) && std::ranges::count(header.name, "global") > 0;
  if (all_steps || is_word("steps_of_run", what)) return column_named("steps");
  const bool part = header.percent && is_word("amount", "fraction_" + header.key());
  const bool works =
      part || is_word("amount", what) || (what.ends_with('s') && work_of(what) && !thing_of(what));
  static const ColumnName amount{Meaning::work, choice_of_generic, false, true};
  return works && !is_word("size", what) ? &amount : nullptr;
}

/// "Time taken", "Time for 500 reps", whose unit may stand in the cells.
bool says_what_took_time(const HeaderWords& header) {
  return header.name.size() > 1 && header.name.front() == "time" &&
         is_word("took_time", header.name[1]);
}

/// The meaning of a name that the vocabulary lists, or of any "... time" with a unit.
std::optional<TableColumn> named_column(const HeaderWords& header,
                                        const std::string& place,
                                        const std::string& text) {
  std::string key;
  const ColumnName* const known = known_by_name(header, key);
  TableColumn column;
  column.name = text;
  const bool time_of_step = header.unit && header.unit->dimension == Dimension::time &&
                            header.basis != Per::unstated && known &&
                            known->meaning == Meaning::throughput;  // "Speed (s/it)"
  const bool in_time = header.unit && header.unit->dimension == Dimension::time;
  const bool of_run = std::ranges::all_of(  // "train_hours", "job (min)"
      header.name,
      [](const std::string& word) { return is_word("whole_run", word); });
  // "Mean [s]"
  const bool some_time = !known && header.per.empty() &&
                         ((in_time && (header.name.empty() || has_word("time", header.name) ||
                                       header.basis != Per::unstated || of_run)) ||
                          says_what_took_time(header));
  const bool quality = !known && !header.unit && has_word("quality", all_header_words(text));
  if (quality) column.meaning = Meaning::quality;
  column.generic = quality;
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
  } else if (!quality) {
    return std::nullopt;
  }
  if (has_word("more_is_better", header.name)) column.better_quality = 1;
  if (has_word("less_is_better", header.name)) column.better_quality = -1;
  constexpr auto time_first = Meaning::time;
  const bool is_time = column.meaning >= time_first && column.meaning <= Meaning::io;
  // A total without a unit may be that of anything.
  if (key == "total" && !header.unit) return std::nullopt;
  // A host without a unit is a machine's name.
  if (column.meaning == Meaning::host && !header.unit) return std::nullopt;
  if (column.meaning == Meaning::work && header.basis == Per::step) column.meaning = Meaning::batch;
  if (column.meaning == Meaning::work && header.basis != Per::unstated) return std::nullopt;
  if (header.percent && column.meaning != Meaning::efficiency &&
      column.meaning != Meaning::quality && column.meaning != Meaning::work)
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
                    has_word("step", header.name);
  column.per = step ? Per::step : header.basis;
  // Of a run and of a step the run is the whole.
  if (column.meaning == Meaning::time && column.per == Per::step) column.choice += choice_of_steps;
  // Each of an epoch, and each operation of a benchmark, is the same work.
  column.epoch = has_word("epoch", header.name) || text.ends_with("/op") ||
                 (key.starts_with("time_to_") && has_word("target", header.name));
  const WordList& whose = header.per.empty() ? header.name : header.per;
  const auto of = std::ranges::find_if(whose, thing_of);
  if (column.meaning == Meaning::power && of != whose.end()) column.rank = singular(*of);
  column.all_of_them = header.all_of_them;
  column.unclear_batch = column.meaning == Meaning::batch && !has_word("whole_batch", header.name);
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
  const auto* const named = column_named(header.key());  // "max_seq_len", "test_err"
  const bool known =
      named && (named->meaning == Meaning::quality || named->meaning == Meaning::time ||
                (named->meaning >= Meaning::sequence_length && !header.unit));
  if (header.not_measured && !of_linear && !known) return std::nullopt;
  if (auto price = price_column(header)) return price;
  // "ms/token": a rate, upside down.
  const bool time_of_work = header.unit && header.unit->dimension == Dimension::time &&
                            header.per.size() == 1 && work_of(header.per.front());
  if (time_of_work && (header.key() == "time" || header.key().empty())) {
    column.meaning = Meaning::throughput;
    column.inverse = true;
    column.factor = 1.0 / header.unit->factor;
    column.choice = 2;
    column.work_noun = work_of(header.per.front())->noun;
    return column;
  }
  // "gpu_hours", "total GPU hours"
  WordList whose = header.name;
  std::erase_if(whose, [](const std::string& word) {
    return is_word("number", word) || is_word("all", word) || is_word("took_time", word);
  });
  if (header.unit && header.unit->dimension == Dimension::time && header.unit->factor >= 60.0 &&
      whose.size() == 1 && thing_of(whose[0])) {
    if (!header.per.empty()) return std::nullopt;  // "core-hours per simulated year"
    column.meaning = Meaning::time;
    column.choice = choice_of_generic + 60;
    column.rank = singular(whose[0]);
    column.summed = true;
    set_unit(column, header, Dimension::time, place);
    return column;
  }
  if (auto batch = batch_of_rank(header)) return batch;
  if (auto rate = rate_column(header)) return rate;
  // "gpu" counts or names machines, as its cells say.
  if (auto count = count_column(header)) return count;
  return named_column(header, place, text);
}
}  // namespace

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
    const WordList words = all_header_words(text);
    const bool times = (text.ends_with(')') || text.ends_with(']')) && words.back() == "x";
    if (times && column->meaning >= Meaning::throughput && column->meaning <= Meaning::efficiency)
      column->meaning = Meaning::speedup;
    column->weak = has_word("weak", words);
    column->strong = has_word("strong", words);
    const bool work = column->meaning == Meaning::work || column->meaning == Meaning::throughput ||
                      (column->meaning == Meaning::batch && std::ranges::any_of(words, work_of));
    const bool said = words.back().size() > 1 || text.back() == ')' || text.back() == ']' ||
                      std::ranges::any_of(words, work_of);
    if (work && said && !column->flops && !column->relative && !column->inverse)
      column->factor *= header_scale(words);
    // "hours (k)"; "time (10^3 s)" and "time, 100 h"
    const WordList of = all_header_words(text.substr(text.find_last_of("([,") + 1));
    const bool scaled = of.size() == 2 && (header_unit(of[0]) || header_unit(of[1]));
    if (column->meaning == Meaning::time && header.per.empty())
      column->factor *=
          scaled ? power_of_ten(of[0]) * power_of_ten(of[1]) : header_scale({words.back()});
  }
  return column;
}

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

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s (step_s for one step), compute_s, comm_s, "
         "idle_s, host_s, io_s, repeat, quality, work (or items, tokens), tokens_per_s or another "
         "rate, rate_usd_per_hour, energy_j, power_w, p99_ms or ttft_p99_ms, tp, pp, cp, dp, "
         "batch, microbatches; times in us, ms, s, min, h or days";
}

RawTable with_count_of_layout(RawTable table) {
  const auto stands = [&](const char* name) { return std::ranges::count(table.columns, name) > 0; };
  const bool grid = stands("P") && stands("Q");
  std::vector<std::vector<double>> factors;
  bool data = grid;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto meaning = named_meaning(table.columns[i]);
    const bool of_grid = grid && (table.columns[i] == "P" || table.columns[i] == "Q");
    if (grid ? counts_machines(table, i) : meaning == Meaning::count) return table;
    if (!of_grid && (!meaning || *meaning < Meaning::tensor || *meaning > Meaning::data)) continue;
    data = data || meaning == Meaning::data;
    factors.push_back(counts_in(table, i));
    if (factors.back().empty()) return table;
  }
  if (!data || factors.size() < 2) return table;
  table.columns.emplace_back(grid ? "ranks" : "gpus");
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    double product = 1.0;
    for (const auto& factor : factors) product *= factor[row];
    table.rows[row].cells.emplace_back(product);
  }
  return table;
}

std::string currency_in(const std::string& text) {
  for (std::string word : all_header_words(text)) {
    if (!is_word("currency", word)) continue;
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
    return word;
  }
  return "";
}

std::string currency_of(const RawTable& table, const std::string& column) {
  std::set<std::string> currencies;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    for (const RawRow& row : table.rows)
      if (table.columns[i] == column ||
          is_word("of_currency", header_words(table.columns[i]).key()))
        if (const std::string one = currency_in(column + " " + cell_text(row.cells[i]));
            !one.empty() || cell_text(row.cells[i]) == "USD")
          currencies.insert(one);
  if (currencies.size() > 1)
    throw UserError("{}: prices in several currencies: keep the rows of one (--where)",
                    table.place);
  return currencies.empty() ? "" : *currencies.begin();
}

namespace {
/// The numbers of a column that counts; empty where none does.
std::vector<double> counts_of_rows(const RawTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (counts_machines(table, i))
      if (auto counts = counts_in(table, i); differ(counts)) return counts;
  return {};
}

/// Whether numbers are such as people measure with: the first at most 1024, the last twice as large
/// or more, most of them below 4 or multiples of 4, 5 or 6.
bool scale_up(const std::set<double>& numbers) {
  const auto usual = std::ranges::count_if(numbers, [](double number) {
    const auto divides = [=](double by) { return std::fmod(number, by) == 0.0; };
    return number < 4.0 || divides(4.0) || divides(5.0) || divides(6.0);
  });
  return *numbers.begin() <= 1024.0 && *numbers.rbegin() >= 2.0 * *numbers.begin() &&
         3 * usual >= 2 * std::ssize(numbers);
}

/// Whether a column may count: few whole numbers, each as often as the others.
bool may_count(const RawTable& table, std::size_t column) {
  const std::vector<double> numbers = counts_in(table, column);
  const std::set<double> different(numbers.begin(), numbers.end());
  return different.size() > 1 && different.size() <= 64 && numbers.size() % different.size() == 0 &&
         *different.rbegin() <= 1e6 && !are_sizes(table, column) && scale_up(different);
}
}  // namespace

std::vector<std::string> likely_renames(const RawTable& table, bool count) {
  const HeaderWords title = header_words(table.title);
  const bool of_rate = title.per_time != nullptr;
  // "workers: seconds"
  const bool of_time = title.unit && title.unit->dimension == Dimension::time;
  constexpr double unlikely = 1e9;  // "residual" beside "cg_time"
  bool time_said = false;
  bool total_said = false;
  bool unnamed_found = false;
  std::vector<std::pair<double, std::string>> renames;
  // Where the work is told, times may rise.
  const bool works = std::ranges::any_of(
      table.columns, [](const std::string& name) { return named_meaning(name) == Meaning::work; });
  std::vector<double> counts = count ? std::vector<double>{} : counts_of_rows(table);
  // Of columns without names the first that may count does.
  std::size_t counting = table.columns.size();
  for (std::size_t i = table.columns.size(); counts.empty() && i-- > 0;)
    if (!count && is_unnamed(table.columns[i]) && may_count(table, i)) counting = i;
  if (counting < table.columns.size()) counts = counts_in(table, counting);
  if (counts.empty())
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      counts.push_back(static_cast<double>(row));
  // At the least and at the largest count; without counts, of the first and the last row.
  const auto ends_of = [&](const std::vector<std::optional<double>>& numbers) {
    std::map<double, std::vector<double>> by_count;
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (numbers[row]) by_count[counts[row]].push_back(*numbers[row]);
    if (by_count.empty()) return std::pair(0.0, 0.0);
    return std::pair(*median(by_count.begin()->second), *median(by_count.rbegin()->second));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i];
    auto numbers = numbers_of(table, i);
    const bool all = says_numbers(table, i) && std::ranges::none_of(numbers, [](const auto& one) {
                       return one && *one <= 0.0;
                     });
    const auto [first, last] = ends_of(numbers);
    std::erase(numbers, std::nullopt);
    if (name.empty() || !all || is_cpu_time(table, i) || numbers.size() < 2 || i == counting ||
        (count && numbers.size() < table.rows.size()))
      continue;
    const HeaderWords header = header_words(name);
    WordList words = all_header_words(name);
    std::erase(words, "max");
    const bool other = name == "value" && has_word("ratio", all_header_words(table.title));
    const bool of_one = std::ranges::any_of(header.per, thing_of) ||  // "cells / GPU"
                        has_word("money", words) || has_word("service_units", words) ||
                        name.find('^') != name.npos;
    // "Task" 49.19, 25.94 beside "Cores" counts nothing.
    const bool thing = counts_machines(table, i) && counts_in(table, i).empty();
    const bool shares = cell_text(table.rows.front().cells[i]).ends_with('%');
    // "2x2x2" says the 8 beside it once more.
    bool again = false;
    for (std::size_t j = 0; j < table.columns.size(); ++j)
      again = again || (j != i && names_a_count(table.columns[j]) &&
                        numbers_of(table, j) == numbers_of(table, i));
    const bool excluded = again || other || of_one || header.percent || shares ||
                          (!thing && (named_meaning(name) || has_word("ratio", words))) ||
                          has_word("not_measured", words) || said_by_cells(table, i) == "speedup";
    // Of those without names behind one that the count changes no more is offered.
    if (excluded || first == last || (is_unnamed(name) && (count ? i > 1 : unnamed_found)))
      continue;
    if (count) {
      const bool once = values_of(table, i).size() == table.rows.size();
      const bool of_work = std::ranges::any_of(
          words, [](const std::string& word) { return work_of(word) && !thing_of(word); });
      if (may_count(table, i) && !of_work && !has_word("setting", words) &&
          said_by_cells(table, i) == "value")
        renames.emplace_back(first / last + (once ? 0.0 : unlikely), name + "=p");
      continue;
    }
    // The total of several times, what stands for all, else the longest, else what falls most.
    const bool total = name.find("otal") != std::string::npos;
    const double ratio = last / first;
    const bool timed = header.unit && header.unit->dimension == Dimension::time;
    const bool says_time = timed || std::ranges::any_of(words, [](const std::string& word) {
                             return is_word("time", word) || word.ends_with("time");
                           });
    const double rises = total ? 2.0 : 1.25;
    const bool rate = !timed && (header.per_time || of_rate ||
                                 (ratio > rises && !works && !says_time && !of_time));
    const bool typical = has_word("typical", words);
    const bool unnamed = is_unnamed(name);
    unnamed_found = unnamed && (ratio > 1.25 || ratio < 0.8);
    const bool likely = (rate && !unnamed) || says_time || total || typical;
    time_said = time_said || (likely && !rate);
    total_said = total_said || total;
    const double falls = **std::ranges::min_element(numbers) / first;
    // Columns without names as they stand: what is derived stands behind.
    const double own = unnamed ? static_cast<double>(i)
                       : rate  ? ratio
                       : timed ? 1.0 / first
                               : falls;
    const double order = total ? 0.0 : typical ? -1.0 : own;
    renames.emplace_back(order + (likely ? 0.0 : unlikely),
                         fmt::format("{}={}{}",
                                     name,
                                     rate ? "throughput" : "time",
                                     timed && !rate ? "_" + header.unit_text : ""));
    // What rises may as well be a time.
    if (rate && unnamed) renames.emplace_back(renames.back().first + 0.5, name + "=time");
  }
  if (total_said) std::erase_if(renames, [](const auto& rename) { return rename.first > 0.0; });
  if (time_said)
    std::erase_if(renames, [&](const auto& rename) { return rename.first >= unlikely; });
  std::ranges::stable_sort(renames, {}, &std::pair<double, std::string>::first);
  return mapped(renames, &std::pair<double, std::string>::second);
}
}  // namespace scaleworth::cli
