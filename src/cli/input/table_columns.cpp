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
#include <vector>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
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

constexpr std::array rank_words{std::string_view("gpu"),
                                std::string_view("chip"),
                                std::string_view("rank"),
                                std::string_view("node"),
                                std::string_view("worker"),
                                std::string_view("device")};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

std::vector<std::string> split_words(const std::string& name) {
  std::vector<std::string> words{""};
  for (const char c : name) {
    if (c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

bool is_unit(std::string_view word) {
  return std::any_of(
      units.begin(), units.end(), [&](const Unit& unit) { return unit.name == word; });
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
  const std::vector<std::string> words = split_words(name);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    rate.per_rank = rate.per_rank || (words[i] == "per" && among(rank_words, words[i + 1]));
  }
  if (!rate.per_rank && !name.starts_with("aggregate")) return std::nullopt;
  return rate;
}

std::optional<RateWords> utilisation_words(const std::string& name) {
  constexpr std::array names{std::string_view("mfu"),
                             std::string_view("mfu_pct"),
                             std::string_view("bf16_mfu_pct"),
                             std::string_view("hfu"),
                             std::string_view("hfu_pct")};
  if (!among(names, name)) return std::nullopt;
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
  for (const std::string_view rank : rank_words) {
    if (!rate.per_rank) rate.per_rank = take_suffix(name, "_per_" + std::string(rank));
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
  constexpr std::array subjects{std::string_view("ttft"),
                                std::string_view("tpot"),
                                std::string_view("itl"),
                                std::string_view("e2e"),
                                std::string_view("latency"),
                                std::string_view("request")};
  std::optional<std::string> percentile;
  std::string subject;
  for (const std::string& word : split_words(words.name)) {
    if (const auto found = percentile_of(word); found && !percentile) {
      percentile = found;
    } else if (among(subjects, word)) {
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

struct Known {
  std::string_view name;
  ColumnMeaning meaning;
  Dimension dimension = Dimension::none;
};

constexpr std::array column_table{
    // Counts, in the order in which one is taken where a table has several.
    Known{"p", ColumnMeaning::count},
    Known{"k", ColumnMeaning::count},
    Known{"n", ColumnMeaning::count},
    Known{"count", ColumnMeaning::count},
    Known{"gpus", ColumnMeaning::count},
    Known{"num_gpus", ColumnMeaning::count},
    Known{"chips", ColumnMeaning::count},
    Known{"chips_total", ColumnMeaning::count},
    Known{"ranks", ColumnMeaning::count},
    Known{"workers", ColumnMeaning::count},
    Known{"processors", ColumnMeaning::count},
    Known{"nodes", ColumnMeaning::count},
    Known{"slices", ColumnMeaning::count},
    Known{"load", ColumnMeaning::count},
    Known{"users", ColumnMeaning::count},
    Known{"concurrency", ColumnMeaning::count},
    Known{"repeat", ColumnMeaning::repeat},
    Known{"run", ColumnMeaning::repeat},
    Known{"trial", ColumnMeaning::repeat},
    Known{"seed", ColumnMeaning::repeat},
    Known{"time", ColumnMeaning::time, Dimension::time},
    Known{"t", ColumnMeaning::time, Dimension::time},
    Known{"wall", ColumnMeaning::time, Dimension::time},
    Known{"wall_time", ColumnMeaning::time, Dimension::time},
    Known{"run_time", ColumnMeaning::time, Dimension::time},
    Known{"runtime", ColumnMeaning::time, Dimension::time},
    Known{"elapsed", ColumnMeaning::time, Dimension::time},
    Known{"duration", ColumnMeaning::time, Dimension::time},
    Known{"step", ColumnMeaning::time, Dimension::time},
    Known{"step_time", ColumnMeaning::time, Dimension::time},
    Known{"iter", ColumnMeaning::time, Dimension::time},
    Known{"iter_time", ColumnMeaning::time, Dimension::time},
    Known{"iteration", ColumnMeaning::time, Dimension::time},
    Known{"iteration_time", ColumnMeaning::time, Dimension::time},
    Known{"compute", ColumnMeaning::compute, Dimension::time},
    Known{"comp", ColumnMeaning::compute, Dimension::time},
    Known{"comm", ColumnMeaning::communication, Dimension::time},
    Known{"communication", ColumnMeaning::communication, Dimension::time},
    Known{"idle", ColumnMeaning::idle, Dimension::time},
    Known{"host", ColumnMeaning::host, Dimension::time},
    Known{"io", ColumnMeaning::io, Dimension::time},
    Known{"quality", ColumnMeaning::quality},
    Known{"accuracy", ColumnMeaning::quality},
    Known{"work", ColumnMeaning::work},
    Known{"items", ColumnMeaning::work},
    Known{"tokens", ColumnMeaning::work},
    Known{"samples", ColumnMeaning::work},
    Known{"throughput", ColumnMeaning::throughput},
    Known{"energy", ColumnMeaning::energy, Dimension::energy},
    Known{"power", ColumnMeaning::power, Dimension::power},
    Known{"rate_usd_per_hour", ColumnMeaning::price},
    Known{"price_usd_per_hour", ColumnMeaning::price},
    Known{"usd_per_hour", ColumnMeaning::price},
    Known{"usd_per_gpu_hour", ColumnMeaning::price},
    Known{"tp", ColumnMeaning::tensor},
    Known{"tensor_parallel", ColumnMeaning::tensor},
    Known{"tensor_parallelism", ColumnMeaning::tensor},
    Known{"pp", ColumnMeaning::pipeline},
    Known{"pipeline_parallel", ColumnMeaning::pipeline},
    Known{"pipeline_parallelism", ColumnMeaning::pipeline},
    Known{"cp", ColumnMeaning::context},
    Known{"context_parallel", ColumnMeaning::context},
    Known{"context_parallelism", ColumnMeaning::context},
    Known{"dp", ColumnMeaning::data},
    Known{"data_parallel", ColumnMeaning::data},
    Known{"data_parallelism", ColumnMeaning::data},
    Known{"ep", ColumnMeaning::expert},
    Known{"expert_parallel", ColumnMeaning::expert},
    Known{"expert_parallelism", ColumnMeaning::expert},
    Known{"batch", ColumnMeaning::batch},
    Known{"global_batch", ColumnMeaning::batch},
    Known{"global_batch_size", ColumnMeaning::batch},
    Known{"batch_size", ColumnMeaning::batch},
    Known{"gbs", ColumnMeaning::batch},
    Known{"batch_per_dp", ColumnMeaning::replica_batch},
    Known{"micro_batch", ColumnMeaning::micro_batch},
    Known{"micro_batch_size", ColumnMeaning::micro_batch},
    Known{"mbs", ColumnMeaning::micro_batch},
    Known{"microbatches", ColumnMeaning::microbatches},
    Known{"micro_batches", ColumnMeaning::microbatches},
    Known{"gas", ColumnMeaning::microbatches},
    Known{"accumulation_steps", ColumnMeaning::microbatches},
    Known{"gradient_accumulation_steps", ColumnMeaning::microbatches},
    Known{"seq", ColumnMeaning::sequence_length},
    Known{"seq_len", ColumnMeaning::sequence_length},
    Known{"sequence_length", ColumnMeaning::sequence_length},
    Known{"steps", ColumnMeaning::steps},
    Known{"model", ColumnMeaning::identity},
    Known{"params", ColumnMeaning::identity},
    Known{"params_b", ColumnMeaning::identity},
    Known{"hidden", ColumnMeaning::identity},
    Known{"hidden_size", ColumnMeaning::identity},
    Known{"layers", ColumnMeaning::identity},
    Known{"scheme", ColumnMeaning::identity},
    Known{"system", ColumnMeaning::identity},
    Known{"benchmark", ColumnMeaning::identity},
    Known{"submitter", ColumnMeaning::identity},
    Known{"chip", ColumnMeaning::identity},
    Known{"gpu", ColumnMeaning::identity},
    Known{"accelerator", ColumnMeaning::identity},
};

constexpr std::array nodes{std::string_view("nodes"), std::string_view("slices")};
constexpr std::array loads{
    std::string_view("load"), std::string_view("users"), std::string_view("concurrency")};
constexpr std::array step_times{std::string_view("step"),
                                std::string_view("step_time"),
                                std::string_view("iter"),
                                std::string_view("iter_time"),
                                std::string_view("iteration"),
                                std::string_view("iteration_time")};

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
                                toml_file::printable(header)));
  }
  if (const auto factor = unit_factor(words.unit, dimension)) return *factor;
  throw UserError(
      fmt::format("{}: column '{}' has no unit; write it into the header, as {}_{} "
                  "(known: {})",
                  place,
                  toml_file::printable(header),
                  toml_file::printable(words.name),
                  example_unit(dimension),
                  unit_names(dimension)));
}

Per per_of(const HeaderWords& words) {
  if (words.per_step || among(step_times, words.name)) return Per::step;
  return words.per_run ? Per::run : Per::unstated;
}
}  // namespace

std::optional<TableColumn> table_column(const std::string& header, const std::string& place) {
  const HeaderWords words = header_words(header);
  TableColumn column;
  column.name = header;
  column.unit = words.unit;
  const auto name = std::find_if(column_table.begin(), column_table.end(), [&](const Known& one) {
    return one.name == words.name;
  });
  // A host without a unit is a machine's name.
  const bool machine =
      name != column_table.end() && name->meaning == ColumnMeaning::host && words.unit.empty();
  if (name != column_table.end() && !machine) {
    column.meaning = name->meaning;
    column.choice = static_cast<std::size_t>(name - column_table.begin());
    column.factor = factor_of(words, name->dimension, header, place);
    column.per = per_of(words);
    column.nodes = among(nodes, words.name);
    column.load = among(loads, words.name);
    return column;
  }
  if (const auto rate = rate_words(words)) {
    column.meaning = rate->energy ? ColumnMeaning::energy_per_work : ColumnMeaning::throughput;
    // After a plain "throughput": rates of what users want, then FLOP/s, then parts of a peak.
    column.choice = column_table.size() + (rate->relative ? 2 : rate->flops ? 1 : 0);
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
using decide::Observation;
using toml_file::printable;

/// What a row needs before it is an observation.
struct Draft {
  Observation row;
  std::optional<double> steps;
  std::optional<double> replica_batch;
  std::optional<double> micro_batch;
  bool parts_per_step = false;
  bool parts_per_run = false;
};

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

void put_part(Draft& draft, PartGroup part, const TableColumn& column, double seconds) {
  draft.row.parts_s[index_of(part)] = seconds;
  draft.parts_per_step = draft.parts_per_step || column.per == Per::step;
  draft.parts_per_run = draft.parts_per_run || column.per == Per::run;
}

void put_integer(Draft& draft, const TableColumn& column, int value) {
  decide::Layout& layout = draft.row.facts.layout;
  switch (column.meaning) {
    case ColumnMeaning::count:
      draft.row.count = value;
      break;
    case ColumnMeaning::tensor:
      layout.tensor = value;
      break;
    case ColumnMeaning::pipeline:
      layout.pipeline = value;
      break;
    case ColumnMeaning::context:
      layout.context = value;
      break;
    case ColumnMeaning::data:
      layout.data = value;
      break;
    default:
      layout.expert = value;
      break;
  }
}

/// Numbers of the run as a whole; `value` in base units.
void put_number(Draft& draft, const TableColumn& column, double value) {
  Observation& row = draft.row;
  switch (column.meaning) {
    case ColumnMeaning::time:
      row.time_s = value;
      break;
    case ColumnMeaning::compute:
      put_part(draft, PartGroup::compute, column, value);
      break;
    case ColumnMeaning::communication:
      put_part(draft, PartGroup::communication, column, value);
      break;
    case ColumnMeaning::idle:
      put_part(draft, PartGroup::idle, column, value);
      break;
    case ColumnMeaning::host:
      put_part(draft, PartGroup::host, column, value);
      break;
    case ColumnMeaning::io:
      put_part(draft, PartGroup::io, column, value);
      break;
    case ColumnMeaning::quality:
      row.quality = value;
      break;
    case ColumnMeaning::work:
      row.work = value;
      break;
    case ColumnMeaning::throughput:
      row.throughput = value;
      break;
    case ColumnMeaning::energy:
      row.energy_j = value;
      break;
    default:
      row.energy_per_work_j = value;
      break;
  }
}

void put_fact(Draft& draft, const TableColumn& column, double value) {
  decide::RowFacts& facts = draft.row.facts;
  switch (column.meaning) {
    case ColumnMeaning::power:
      facts.power_w = value;
      break;
    case ColumnMeaning::price:
      facts.price = dollars_per_hour(value);
      break;
    case ColumnMeaning::latency:
      facts.latencies.push_back({column.latency, value});
      break;
    case ColumnMeaning::batch:
      facts.batch = value;
      break;
    case ColumnMeaning::replica_batch:
      draft.replica_batch = value;
      break;
    case ColumnMeaning::micro_batch:
      draft.micro_batch = value;
      break;
    case ColumnMeaning::microbatches:
      facts.microbatches = value;
      break;
    case ColumnMeaning::sequence_length:
      facts.sequence_length = value;
      break;
    default:
      draft.steps = value;
      break;
  }
}

bool is_integer(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::count ||
         (meaning >= ColumnMeaning::tensor && meaning <= ColumnMeaning::expert);
}

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

Observation RowBuilder::build(const RawRow& raw) {
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
    if (is_integer(column.meaning)) {
      put_integer(draft, column, whole(value, column, raw.place));
    } else if (column.meaning <= ColumnMeaning::energy_per_work) {
      put_number(draft, column, value * column.factor);
    } else {
      put_fact(draft, column, value * column.factor);
    }
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
