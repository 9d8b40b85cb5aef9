// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/core/files/toml_table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
using decide::Layout;
using decide::RowFacts;
using decide::TableRow;
using toml_file::printable;

// A column's header taken apart: name, unit, rate, percentile.

enum class Dimension { none, time, energy, power };

struct HeaderWords {
  std::string name;  // lower case, words joined by "_"
  std::string unit;  // "ms"; empty where the header names none
  bool per_step = false;
  bool per_run = false;
};

struct RateWords {
  double factor = 1.0;
  bool per_rank = false;
  bool flops = false;
  bool relative = false;  // MFU: a share of a peak
  bool energy = false;    // J per unit of work instead of work per second
};

struct Unit {
  std::string_view name;
  Dimension dimension;
  double factor;
};

constexpr std::array units{
    Unit{"ns", Dimension::time, 1e-9},      Unit{"us", Dimension::time, 1e-6},
    Unit{"ms", Dimension::time, 1e-3},      Unit{"s", Dimension::time, 1.0},
    Unit{"min", Dimension::time, 60.0},     Unit{"h", Dimension::time, 3600.0},
    Unit{"days", Dimension::time, 86400.0}, Unit{"sec", Dimension::time, 1.0},
    Unit{"seconds", Dimension::time, 1.0},  Unit{"minutes", Dimension::time, 60.0},
    Unit{"hours", Dimension::time, 3600.0}, Unit{"d", Dimension::time, 86400.0},
    Unit{"j", Dimension::energy, 1.0},      Unit{"kj", Dimension::energy, 1e3},
    Unit{"mj", Dimension::energy, 1e6},     Unit{"wh", Dimension::energy, 3600.0},
    Unit{"kwh", Dimension::energy, 3.6e6},  Unit{"mwh", Dimension::energy, 3.6e9},
    Unit{"w", Dimension::power, 1.0},       Unit{"kw", Dimension::power, 1e3},
};

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words{""};
  for (const char c : text) {
    if (c == separator) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// Where `word` stands among `words`, which blanks separate; absent where it does not.
std::optional<std::size_t> place_of(std::string_view word, std::string_view words) {
  const std::vector<std::string> all = split_words(words, ' ');
  const auto found = std::ranges::find(all, word);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin());
}

bool among(std::string_view words, std::string_view word) {
  return place_of(word, words).has_value();
}

constexpr std::string_view rank_words = "gpu chip rank node worker device";

bool take_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

/// Lower case, blanks, hyphens and dots as "_", none of these or "#" at the ends.
std::string joined_words(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool separates = c == ' ' || c == '\t' || c == '-' || c == '_' || c == '#';
    if (!separates) {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.empty() && words.back() != '_') {
      words += '_';
    }
  }
  take_suffix(words, "_");
  return words;
}

bool is_unit(std::string_view word) {
  return std::ranges::find(units, word, &Unit::name) != units.end();
}

/// "tokens_per_s": its last word is no unit of the number.
bool is_rate(const std::string& name) {
  const std::size_t per = name.find("_per_");
  if (per == std::string::npos) return false;
  const std::string rest = name.substr(per);
  return !rest.starts_with("_per_step_") && !rest.starts_with("_per_run_");
}

void take_basis(HeaderWords& words) {
  words.per_step = take_suffix(words.name, "_per_step") || words.per_step;
  words.per_run = take_suffix(words.name, "_per_run") || words.per_run;
}

/// "p99", "p99.9"; "p50" for the median; "mean".
std::optional<std::string> percentile_of(const std::string& word) {
  if (word == "median") return "p50";
  if (word == "mean" || word == "avg") return "mean";
  if (word.size() < 2 || word.size() > 6 || word.front() != 'p') return std::nullopt;
  const bool number = std::all_of(
      word.begin() + 1, word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return number ? std::optional(word) : std::nullopt;
}

double flops_factor(char prefix) {
  return prefix == 'g' ? 1e9 : prefix == 't' ? 1e12 : prefix == 'p' ? 1e15 : 1.0;
}

/// FLOP/s in words: of one rank, or of all where the name says "aggregate".
std::optional<RateWords> flops_words(const std::string& name) {
  const std::size_t at = name.find("flops");
  if (at == std::string::npos || name.find("peak") != std::string::npos) return std::nullopt;
  RateWords rate;
  rate.flops = true;
  rate.factor = flops_factor(at == 0 ? ' ' : name[at - 1]);
  const std::vector<std::string> words = split_words(name, '_');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    rate.per_rank = rate.per_rank || (words[i] == "per" && among(rank_words, words[i + 1]));
  }
  if (!rate.per_rank && !name.starts_with("aggregate")) return std::nullopt;
  return rate;
}

std::optional<RateWords> utilisation_words(const std::string& name) {
  if (!among("mfu mfu_pct bf16_mfu_pct hfu hfu_pct", name)) return std::nullopt;
  RateWords rate;
  rate.per_rank = true;
  rate.relative = true;
  if (name.ends_with("_pct")) rate.factor = 0.01;
  return rate;
}

/// "time_ms", "time (ms)", "Time [ms]", "time_ms_per_step" and "# GPUs" as name, unit and basis.
HeaderWords header_words(const std::string& header) {
  HeaderWords words;
  const std::size_t bracket = header.find_first_of("([");
  const std::size_t close = bracket == std::string::npos || bracket == 0
                                ? std::string::npos
                                : header.find_first_of(")]", bracket);
  if (close != std::string::npos) {
    words.name = joined_words(std::string_view(header).substr(0, bracket));
    words.unit = joined_words(std::string_view(header).substr(bracket + 1, close - bracket - 1));
    take_basis(words);
  } else {
    words.name = joined_words(header);
    take_basis(words);
    const std::size_t underline = words.name.rfind('_');
    const bool rate = is_rate(words.name);
    if (!rate && underline != std::string::npos && is_unit(words.name.substr(underline + 1))) {
      words.unit = words.name.substr(underline + 1);
      words.name.resize(underline);
      take_basis(words);
    }
  }
  // Computed by whoever made the table, and of the same meaning.
  if (words.name.starts_with("derived_")) words.name.erase(0, std::string_view("derived_").size());
  return words;
}

/// In base units (s, J, W); absent for a unit of another dimension or none.
std::optional<double> unit_factor(std::string_view unit, Dimension dimension) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& one) {
    return one.name == unit && one.dimension == dimension;
  });
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

/// "us, ms, s, ...".
std::string unit_names(Dimension dimension) {
  std::string names;
  for (const Unit& unit : units) {
    if (unit.dimension == dimension) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

/// "tokens_per_s", "tok_per_s_per_gpu", "tflops_per_chip", "aggregate_pflops", "mfu_pct",
/// "j_per_tok"; absent for anything else.
std::optional<RateWords> rate_words(const HeaderWords& words) {
  std::string name = words.name;
  if (name.empty()) return std::nullopt;
  if (name.starts_with("j_per_") && name.size() > 6) {
    RateWords rate;
    rate.energy = true;
    return rate;
  }
  if (const auto flops = flops_words(name)) return flops;
  if (const auto utilisation = utilisation_words(name)) return utilisation;
  RateWords rate;
  for (const std::string& rank : split_words(rank_words, ' ')) {
    if (!rate.per_rank) rate.per_rank = take_suffix(name, "_per_" + rank);
  }
  if (name == "throughput") return rate;
  for (const char* per_second : {"_per_s", "_per_sec", "_per_second", "/s"}) {
    if (take_suffix(name, per_second) && !name.empty() && name.find("byte") == std::string::npos &&
        name.find("gb") == std::string::npos) {
      return rate;
    }
  }
  return std::nullopt;
}

/// "ttft_p99" of "p99_ttft" and "ttft_p99", "ttft_p50" of "median_ttft"; absent for anything else.
std::optional<std::string> latency_words(const HeaderWords& words) {
  std::optional<std::string> percentile;
  std::string subject;
  for (const std::string& word : split_words(words.name, '_')) {
    if (const auto found = percentile_of(word); found && !percentile) {
      percentile = found;
    } else if (among("ttft tpot itl e2e latency request", word)) {
      if (word != "latency") subject = word + "_";
    } else {
      return std::nullopt;
    }
  }
  const bool plain =
      subject.empty() && words.name.front() != 'p' && words.name.find('_') == std::string::npos;
  if (!percentile || plain) return std::nullopt;
  return subject + *percentile;
}

/// What a row needs before it is one of a scaling table.
struct Draft {
  TableRow row;
  std::optional<double> steps;
  std::optional<double> replica_batch;
  std::optional<double> micro_batch;
  bool parts_per_step = false;
  bool parts_per_run = false;
};

/// What a cell is stored in; nothing for a column that is read otherwise.
using Member = std::variant<std::monostate,
                            int TableRow::*,
                            std::optional<double> TableRow::*,
                            std::optional<double> RowFacts::*,
                            std::optional<int> Layout::*,
                            std::optional<double> Draft::*,
                            PartGroup>;

/// One meaning of a column: the names it goes by, in base units what, and where its cells go.
struct Known {
  ColumnMeaning meaning;
  std::string_view names;  // of several columns of one meaning the first named is taken
  Dimension dimension = Dimension::none;
  Member member = {};
};

constexpr std::array column_table{
    Known{ColumnMeaning::count,
          "p k n count gpus num_gpus chips chips_total ranks workers processors nodes slices load "
          "users concurrency",
          Dimension::none,
          &TableRow::count},
    Known{ColumnMeaning::repeat, "repeat run trial seed"},
    Known{ColumnMeaning::time,
          "time t wall wall_time run_time runtime elapsed duration step step_time iter iter_time "
          "iteration iteration_time",
          Dimension::time,
          &TableRow::time_s},
    Known{ColumnMeaning::compute, "compute comp", Dimension::time, PartGroup::compute},
    Known{ColumnMeaning::communication,
          "comm communication",
          Dimension::time,
          PartGroup::communication},
    Known{ColumnMeaning::idle, "idle", Dimension::time, PartGroup::idle},
    Known{ColumnMeaning::host, "host", Dimension::time, PartGroup::host},
    Known{ColumnMeaning::io, "io", Dimension::time, PartGroup::io},
    Known{ColumnMeaning::quality, "quality accuracy", Dimension::none, &TableRow::quality},
    Known{ColumnMeaning::work, "work items tokens samples", Dimension::none, &TableRow::work},
    Known{ColumnMeaning::throughput, "throughput", Dimension::none, &TableRow::throughput},
    Known{ColumnMeaning::energy, "energy", Dimension::energy, &TableRow::energy_j},
    Known{ColumnMeaning::energy_per_work, "", Dimension::none, &TableRow::energy_per_work_j},
    Known{ColumnMeaning::power, "power", Dimension::power, &RowFacts::power_w},
    Known{ColumnMeaning::price,
          "rate_usd_per_hour price_usd_per_hour usd_per_hour usd_per_gpu_hour"},
    Known{ColumnMeaning::latency, "", Dimension::time},
    Known{ColumnMeaning::tensor,
          "tp tensor_parallel tensor_parallelism",
          Dimension::none,
          &Layout::tensor},
    Known{ColumnMeaning::pipeline,
          "pp pipeline_parallel pipeline_parallelism",
          Dimension::none,
          &Layout::pipeline},
    Known{ColumnMeaning::context,
          "cp context_parallel context_parallelism",
          Dimension::none,
          &Layout::context},
    Known{ColumnMeaning::data, "dp data_parallel data_parallelism", Dimension::none, &Layout::data},
    Known{ColumnMeaning::expert,
          "ep expert_parallel expert_parallelism",
          Dimension::none,
          &Layout::expert},
    Known{ColumnMeaning::batch,
          "batch global_batch global_batch_size batch_size gbs",
          Dimension::none,
          &RowFacts::batch},
    Known{ColumnMeaning::replica_batch, "batch_per_dp", Dimension::none, &Draft::replica_batch},
    Known{ColumnMeaning::micro_batch,
          "micro_batch micro_batch_size mbs",
          Dimension::none,
          &Draft::micro_batch},
    Known{ColumnMeaning::microbatches,
          "microbatches micro_batches gas accumulation_steps gradient_accumulation_steps",
          Dimension::none,
          &RowFacts::microbatches},
    Known{ColumnMeaning::sequence_length,
          "seq seq_len sequence_length",
          Dimension::none,
          &RowFacts::sequence_length},
    Known{ColumnMeaning::steps, "steps", Dimension::none, &Draft::steps},
    Known{ColumnMeaning::identity,
          "model params params_b hidden hidden_size layers scheme system benchmark submitter chip "
          "gpu accelerator"},
};
static_assert(std::ranges::is_sorted(column_table, {}, &Known::meaning) &&
              column_table.size() == static_cast<std::size_t>(ColumnMeaning::identity) + 1);

const char* example_unit(Dimension dimension) {
  return dimension == Dimension::time ? "s" : dimension == Dimension::energy ? "j" : "w";
}

/// The factor of the column's unit.
double factor_of(const HeaderWords& words,
                 Dimension dimension,
                 const std::string& header,
                 const std::string& place) {
  if (dimension == Dimension::none) return 1.0;
  if (dimension == Dimension::energy && words.unit == "mj") {
    throw UserError(fmt::format("{}: column '{}' may be mega- or millijoules; write it in kj or j",
                                place,
                                printable(header)));
  }
  if (const auto factor = unit_factor(words.unit, dimension)) return *factor;
  throw UserError(
      fmt::format("{}: column '{}' has no unit; write it into the header, as {}_{} "
                  "(known: {})",
                  place,
                  printable(header),
                  printable(words.name),
                  example_unit(dimension),
                  unit_names(dimension)));
}

Per per_of(const HeaderWords& words) {
  const bool of_step = among("step step_time iter iter_time iteration iteration_time", words.name);
  if (words.per_step || of_step) return Per::step;
  return words.per_run ? Per::run : Per::unstated;
}
}  // namespace

std::optional<TableColumn> table_column(const std::string& header, const std::string& place) {
  const HeaderWords words = header_words(header);
  TableColumn column;
  column.name = header;
  column.unit = words.unit;
  for (const Known& known : column_table) {
    // A host without a unit is a machine's name.
    const bool machine = known.meaning == ColumnMeaning::host && words.unit.empty();
    const auto place_in_list = place_of(words.name, known.names);
    if (words.name.empty() || !place_in_list || machine) continue;
    column.meaning = known.meaning;
    column.choice = *place_in_list + 1;
    column.factor = factor_of(words, known.dimension, header, place);
    column.per = per_of(words);
    column.nodes = among("nodes slices", words.name);
    column.load = among("load users concurrency", words.name);
    return column;
  }
  if (const auto rate = rate_words(words)) {
    column.meaning = rate->energy ? ColumnMeaning::energy_per_work : ColumnMeaning::throughput;
    // After a plain "throughput": rates of what users want, then FLOP/s, then parts of a peak.
    column.choice = rate->relative ? 4 : rate->flops ? 3 : 2;
    column.factor = rate->factor;
    column.per_rank = rate->per_rank;
    column.flops = rate->flops;
    column.relative = rate->relative;
    return column;
  }
  if (auto latency = latency_words(words)) {
    column.meaning = ColumnMeaning::latency;
    column.latency = std::move(*latency);
    column.factor = factor_of(words, Dimension::time, header, place);
    return column;
  }
  return std::nullopt;
}

bool may_choose(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::count || meaning == ColumnMeaning::throughput;
}

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s (step_s for one step), compute_s, comm_s, "
         "idle_s, host_s, io_s, repeat, quality, work (or items, tokens), tokens_per_s or another "
         "rate, "
         "rate_usd_per_hour, energy_j, power_w, p99_ms or ttft_p99_ms, tp, pp, cp, dp, batch, "
         "microbatches; times in us, ms, s, min, h or days";
}

namespace {
[[noreturn]] void refuse(const std::string& place,
                         const TableColumn& column,
                         const std::string& what) {
  throw UserError(fmt::format("{}: column '{}' {}", place, printable(column.name), what));
}

double number_in(const RawCell& cell, const TableColumn& column, const std::string& place) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  const auto& text = std::get<std::string>(cell);
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && rest == end) return value;
  const bool starts_with_number = error == std::errc{} && rest != text.data();
  const std::string unit = column.unit.empty() ? "" : " (" + printable(column.unit) + ")";
  refuse(place,
         column,
         fmt::format("is '{}', not a number{}",
                     printable(text),
                     starts_with_number
                         ? fmt::format("; the header gives the unit{} for all its cells", unit)
                         : "; leave the cell empty for a value that is missing"));
}

int whole(double value, const TableColumn& column, const std::string& place) {
  if (value != std::floor(value) || value < 0.0 || value > most_count) {
    refuse(place, column, fmt::format("is {:g}, not an integer from 0 to {:g}", value, most_count));
  }
  return static_cast<int>(value);
}

/// Stores a cell's `value`, in base units, in the member of its column.
struct Put {
  Draft& draft;
  const TableColumn& column;
  const std::string& place;
  double value;

  void operator()(std::monostate) const {
    RowFacts& facts = draft.row.facts;
    if (column.meaning == ColumnMeaning::price) facts.price = dollars_per_hour(value);
    if (column.meaning == ColumnMeaning::latency)
      facts.latencies.push_back({column.latency, value});
  }
  void operator()(int TableRow::*member) const { draft.row.*member = whole(value, column, place); }
  void operator()(std::optional<double> TableRow::*member) const { draft.row.*member = value; }
  void operator()(std::optional<double> RowFacts::*member) const {
    draft.row.facts.*member = value;
  }
  void operator()(std::optional<int> Layout::*member) const {
    draft.row.facts.layout.*member = whole(value, column, place);
  }
  void operator()(std::optional<double> Draft::*member) const { draft.*member = value; }
  void operator()(PartGroup part) const {
    draft.row.parts_s[index_of(part)] = value;
    draft.parts_per_step = draft.parts_per_step || column.per == Per::step;
    draft.parts_per_run = draft.parts_per_run || column.per == Per::run;
  }
};

/// Parts of one step under a time of a run, or the other way round, brought to the time's basis.
void match_parts(Draft& draft, bool time_per_step) {
  const bool to_run = draft.parts_per_step && draft.row.time_s && !time_per_step;
  const bool to_step = draft.parts_per_run && draft.row.time_s && time_per_step;
  if (!to_run && !to_step) return;
  if (!draft.steps || !(*draft.steps > 0.0)) {
    throw UserError(fmt::format(
        "{}: the parts are of one {}, the time is of one {}; add a column steps with the number of "
        "steps of the run",
        draft.row.place,
        to_run ? "step" : "run",
        to_run ? "run" : "step"));
  }
  for (auto& part : draft.row.parts_s) {
    if (part) part = to_run ? *part * *draft.steps : *part / *draft.steps;
  }
}

/// Batch and microbatches from the batch of a replica and of a microbatch.
void complete_batch(Draft& draft) {
  decide::RowFacts& facts = draft.row.facts;
  const auto& replicas = facts.layout.data;
  if (!replicas || *replicas < 1) return;
  if (!facts.batch && draft.replica_batch) facts.batch = *draft.replica_batch * *replicas;
  const bool known = facts.batch && draft.micro_batch && *draft.micro_batch > 0.0;
  if (facts.microbatches || !known) return;
  facts.microbatches = *facts.batch / (*replicas * *draft.micro_batch);
}
}  // namespace

RowBuilder::RowBuilder(std::vector<std::optional<TableColumn>> columns)
    : columns_(std::move(columns)) {}

int RowBuilder::repeat_of(const RawCell& cell,
                          const TableColumn& column,
                          const std::string& place) {
  const auto* text = std::get_if<std::string>(&cell);
  const bool number = !text || text->find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (number) return whole(number_in(cell, column, place), column, place);
  return repeats_
      .emplace(*text, static_cast<int>(repeats_.size()) + static_cast<int>(most_count) + 1)
      .first->second;
}

decide::TableRow RowBuilder::build(const RawRow& raw) {
  Draft draft;
  draft.row.place = raw.place;
  bool per_rank = false;
  bool time_per_step = false;
  bool load = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i] || columns_[i]->meaning == ColumnMeaning::identity) continue;
    const TableColumn& column = *columns_[i];
    const RawCell& cell = raw.cells[i];
    const bool empty = std::holds_alternative<std::monostate>(cell) || cell == RawCell{""};
    if (empty) {
      if (column.meaning == ColumnMeaning::count) refuse(raw.place, column, "is empty");
      continue;
    }
    if (column.meaning == ColumnMeaning::repeat) {
      draft.row.repeat = repeat_of(cell, column, raw.place);
      continue;
    }
    const double value = number_in(cell, column, raw.place);
    if (!std::isfinite(value) || !std::isfinite(value * column.factor)) {
      refuse(raw.place,
             column,
             "is not a finite number; leave the cell empty for a value that is missing");
    }
    per_rank = per_rank || column.per_rank;
    load = load || column.load;
    time_per_step =
        time_per_step || (column.meaning == ColumnMeaning::time && column.per == Per::step);
    const Known& known = column_table[static_cast<std::size_t>(column.meaning)];
    std::visit(Put{draft, column, raw.place, value * column.factor}, known.member);
  }
  if (per_rank && !load && draft.row.throughput) {
    draft.row.throughput = *draft.row.throughput * draft.row.count;
  }
  match_parts(draft, time_per_step);
  complete_batch(draft);
  return draft.row;
}

decide::TableKind RowBuilder::kind() const {
  decide::TableKind kind;
  bool timed = false;
  bool parts_of_step = false;
  for (const auto& column : columns_) {
    if (!column) continue;
    const bool of_step = column->per == Per::step;
    if (column->load) kind.axis = decide::Axis::load;
    if (column->nodes) kind.axis = decide::Axis::nodes;
    if (column->meaning == ColumnMeaning::time) {
      timed = true;
      if (of_step) kind.basis = decide::TimeBasis::step;
    }
    parts_of_step = parts_of_step || (column->meaning == ColumnMeaning::compute && of_step);
  }
  if (!timed && parts_of_step) kind.basis = decide::TimeBasis::step;
  return kind;
}
}  // namespace scaleworth::cli
