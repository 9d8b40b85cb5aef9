// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

namespace scaleworth::cli {
namespace {
using toml_file::printable;

// A column's header taken apart: name, unit, rate, percentile.

enum class Dimension { none, time, energy, power };

struct HeaderWords {
  std::string name;  // lower case, words joined by "_"
  std::string unit;  // "ms"; empty where the header names none
  Per per = Per::unstated;
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

/// The place of `word`, from 1 on, among `words`, which blanks separate; 0 where it is none.
std::size_t place_among(std::string_view words, std::string_view word) {
  const std::vector<std::string_view> all = split(words, ' ');
  const auto found = std::ranges::find(all, word);
  return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin()) + 1;
}

bool among(std::string_view words, std::string_view word) {
  return place_among(words, word) > 0;
}

constexpr std::string_view rank_words =
    "gpu chip rank node worker device accelerator gcd card core";

bool take_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

/// Lower case; blanks, hyphens, brackets and "#" as "_", none at the ends.
std::string joined_words(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool separates = std::string_view(" \t-_#()[]").find(c) != std::string_view::npos;
    if (!separates) {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.empty() && words.back() != '_') {
      words += '_';
    }
  }
  take_suffix(words, "_");
  return words;
}

/// "tokens_per_s": its last word is no unit of the number.
bool is_rate(std::string_view name) {
  name.remove_prefix(std::min(name.find("_per_"), name.size()));
  return !name.empty() && !name.starts_with("_per_step_") && !name.starts_with("_per_run_");
}

void take_basis(HeaderWords& words) {
  if (take_suffix(words.name, "_per_step")) words.per = Per::step;
  if (take_suffix(words.name, "_per_run") && words.per != Per::step) words.per = Per::run;
}

/// "p99", "p99.9"; "p50" for the median; "mean".
std::optional<std::string> percentile_of(std::string_view word) {
  if (word == "median") return "p50";
  if (word == "mean" || word == "avg") return "mean";
  if (word.size() < 2 || word.size() > 6 || word.front() != 'p') return std::nullopt;
  const bool number = word.find_first_not_of("0123456789.", 1) == std::string_view::npos;
  return number ? std::optional<std::string>(word) : std::nullopt;
}

/// A column of rates; of several the one with the least `choice` is taken: rates of what users want
/// come after a plain "throughput", then FLOP/s, then parts of a peak.
TableColumn throughput_column(std::size_t choice) {
  TableColumn rate;
  rate.meaning = Meaning::throughput;
  rate.choice = choice;
  return rate;
}

/// FLOP/s, of whatever.
std::optional<TableColumn> flops_column(const std::string& name) {
  const std::size_t at = name.find("flops");
  if (at == std::string::npos || name.find("peak") != std::string::npos) return std::nullopt;
  TableColumn rate = throughput_column(3);
  rate.flops = true;
  const char prefix = at == 0 ? ' ' : name[at - 1];
  rate.factor = prefix == 'g' ? 1e9 : prefix == 't' ? 1e12 : prefix == 'p' ? 1e15 : 1.0;
  return rate;
}

/// Takes "per_gpu" out of the name, wherever it stands, and returns "gpu"; empty where none does.
std::string take_rank(std::string& name) {
  for (const std::string_view rank : split(rank_words, ' ')) {
    const std::string words = fmt::format("_per_{}_", rank);
    const std::string all = "_" + name + "_";
    const std::size_t at = all.find(words);
    if (at == std::string::npos) continue;
    name = joined_words(all.substr(0, at + 1) + all.substr(at + words.size()));
    return std::string(rank);
  }
  return "";
}

/// "tok/s/gpu" as "tok_per_s_per_gpu".
std::string without_slashes(std::string_view words) {
  return fmt::format("{}", fmt::join(split(words, '/'), "_per_"));
}

/// "time_ms", "time (ms)", "Time [ms]", "time_ms_per_step", "Throughput (tok/s/GPU)", "seconds" and
/// "# GPUs" as name, unit and basis.
HeaderWords header_words(const std::string& header) {
  HeaderWords words;
  const std::size_t bracket = header.find_first_of("([");
  const std::size_t close = header.find_first_of(")]", bracket);
  if (bracket != 0 && close != std::string::npos) {
    words.name = joined_words(header.substr(0, bracket) + " " + header.substr(close + 1));
    words.unit = joined_words(std::string_view(header).substr(bracket + 1, close - bracket - 1));
    // "(tok/s/GPU)" and "(per GPU)" say more than a unit.
    const std::string rate = without_slashes(words.unit);
    const bool throughput = words.name.find("throughput") != std::string::npos && is_rate(rate);
    if (throughput || rate.starts_with("per_")) {
      words.name += "_" + rate;
      words.unit.clear();
    }
    take_basis(words);
  } else {
    words.name = joined_words(header);
    const bool time_alone = among("seconds minutes hours days sec secs ms", words.name);
    if (time_alone) words.name.insert(0, "time_");
    take_basis(words);
    const std::size_t underline = words.name.rfind('_');
    const bool rate = is_rate(words.name);
    if (!rate && underline != std::string::npos &&
        std::ranges::count(units, words.name.substr(underline + 1), &Unit::name) > 0) {
      words.unit = words.name.substr(underline + 1);
      words.name.resize(underline);
      take_basis(words);
    }
  }
  // Computed by whoever made the table, and of the same meaning.
  if (words.name.starts_with("derived_")) words.name.erase(0, std::string_view("derived_").size());
  return words;
}

/// "tokens_per_s", "tok_per_s_per_gpu", "tflops_per_chip", "aggregate_pflops", "mfu_pct" (a share
/// of a peak), "j_per_tok"; absent for anything else.
std::optional<TableColumn> rate_column(const HeaderWords& words) {
  std::string name = without_slashes(words.name);
  const bool energy = name.starts_with("j_per_") && name.size() > 6;
  const std::string rank = energy ? "" : take_rank(name);
  TableColumn rate = flops_column(name).value_or(throughput_column(2));
  rate.per_rank = !rank.empty() || name == "tgs";  // tokens per GPU and second
  rate.nodes = rank == "node";
  if (energy) {
    rate.meaning = Meaning::energy_per_work;
    return rate;
  }
  // FLOP/s of all only where the name says so.
  if (rate.flops && !rate.per_rank && !name.starts_with("aggregate")) return std::nullopt;
  if (rate.flops) return rate;
  if (among("mfu mfu_pct bf16_mfu_pct hfu hfu_pct", name)) {
    rate.choice = 4;
    rate.per_rank = rate.relative = true;
    if (name.ends_with("_pct")) rate.factor = 0.01;
    return rate;
  }
  if (among("throughput tps tgs", name)) return rate;
  bool per_second = false;
  for (const char* second : {"_per_s", "_per_sec", "_per_second"})
    per_second = per_second || take_suffix(name, second);
  const bool of_bytes =
      name.find("byte") != std::string::npos || name.find("gb") != std::string::npos;
  return per_second && !name.empty() && !of_bytes ? std::optional(rate) : std::nullopt;
}

/// "ttft_p99" of "p99_ttft" and "ttft_p99", "ttft_p50" of "median_ttft"; absent for anything else.
std::optional<std::string> latency_words(const HeaderWords& words) {
  std::optional<std::string> percentile;
  std::string subject;
  for (const std::string_view word : split(words.name, '_')) {
    if (const auto found = percentile_of(word); found && !percentile) {
      percentile = found;
    } else if (among("ttft tpot itl e2e latency request", word)) {
      if (word != "latency") subject = fmt::format("{}_", word);
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

constexpr double most_count = 1e6;

/// What a cell is stored in; nothing for a column that is read otherwise.
using Member = std::variant<std::monostate,
                            int TableRow::*,
                            std::optional<double> TableRow::*,
                            std::optional<double> RowFacts::*,
                            std::optional<int> Layout::*,
                            std::optional<double> Draft::*,
                            PartGroup>;

/// One meaning of a column: the names it goes by, where its cells go, and in what unit.
struct Known {
  Meaning meaning;
  std::string_view names;  // of several columns of one meaning the first named is taken
  Member member = {};
  Dimension dimension = Dimension::none;
};

constexpr std::array column_table{
    Known{Meaning::count,
          "p k n count gpus num_gpus gpu_count n_gpus number_of_gpus chips chips_total ranks "
          "world_size workers processors nodes num_nodes node_count slices load users concurrency",
          &TableRow::count},
    Known{Meaning::repeat, "repeat run trial seed"},
    Known{Meaning::time,
          "time t wall wall_time run_time runtime elapsed duration step step_time iter iter_time "
          "iteration iteration_time",
          &TableRow::time_s,
          Dimension::time},
    Known{Meaning::compute, "compute comp", PartGroup::compute, Dimension::time},
    Known{Meaning::communication, "comm communication", PartGroup::communication, Dimension::time},
    Known{Meaning::idle, "idle", PartGroup::idle, Dimension::time},
    Known{Meaning::host, "host", PartGroup::host, Dimension::time},
    Known{Meaning::io, "io", PartGroup::io, Dimension::time},
    Known{Meaning::quality,
          "quality accuracy loss train_loss training_loss val_loss eval_loss final_loss",
          &TableRow::quality},
    Known{Meaning::work, "work items tokens samples", &TableRow::work},
    Known{Meaning::throughput, "throughput", &TableRow::throughput},
    Known{Meaning::energy, "energy", &TableRow::energy_j, Dimension::energy},
    Known{Meaning::energy_per_work, "", &TableRow::energy_per_work_j},
    Known{Meaning::power, "power", &RowFacts::power_w, Dimension::power},
    Known{Meaning::price, "rate_usd_per_hour price_usd_per_hour usd_per_hour usd_per_gpu_hour"},
    Known{Meaning::latency, "", {}, Dimension::time},
    Known{Meaning::tensor, "tp tensor_parallel tensor_parallelism", &Layout::tensor},
    Known{Meaning::pipeline, "pp pipeline_parallel pipeline_parallelism", &Layout::pipeline},
    Known{Meaning::context, "cp context_parallel context_parallelism", &Layout::context},
    Known{Meaning::data, "dp data_parallel data_parallelism", &Layout::data},
    Known{Meaning::expert, "ep expert_parallel expert_parallelism", &Layout::expert},
    Known{Meaning::batch, "batch global_batch global_batch_size batch_size gbs", &RowFacts::batch},
    Known{Meaning::replica_batch, "batch_per_dp", &Draft::replica_batch},
    Known{Meaning::micro_batch, "micro_batch micro_batch_size mbs", &Draft::micro_batch},
    Known{Meaning::microbatches,
          "microbatches micro_batches gas accumulation_steps gradient_accumulation_steps",
          &RowFacts::microbatches},
    Known{Meaning::sequence_length, "seq seq_len sequence_length", &RowFacts::sequence_length},
    Known{Meaning::steps, "steps", &Draft::steps},
    Known{Meaning::identity,
          "model params params_b hidden hidden_size layers scheme system benchmark submitter chip "
          "gpu accelerator"},
};
static_assert(std::ranges::is_sorted(column_table, {}, &Known::meaning) &&
              column_table.size() == static_cast<std::size_t>(Meaning::identity) + 1);

[[noreturn]] void refuse(const std::string& place,
                         const TableColumn& column,
                         const std::string& what) {
  throw UserError("{}: column '{}' {}", place, printable(column.name), what);
}

/// A rate whose name speaks of a GPU and does not say "per" may be that of one or of all: a factor
/// of the whole count.
void refuse_unclear(const TableColumn& rate, const HeaderWords& words, const std::string& place) {
  if (rate.per_rank || rate.meaning != Meaning::throughput) return;
  bool of_one = false;
  bool of_all = false;
  const std::string all = words.name + "_" + words.unit;
  for (const std::string_view word : split(all, '_')) {
    of_one = of_one || among(rank_words, word);
    of_all = of_all || among("all total aggregate sum overall gpus ranks nodes", word);
  }
  if (of_one && !of_all)
    refuse(place,
           rate,
           "may be the rate of one or of all of them; write it as tokens_per_s_per_gpu or as "
           "tokens_per_s");
}

/// The factor of the column's unit; `name` is its header without the unit.
double factor_of(const TableColumn& column,
                 const std::string& name,
                 Dimension dimension,
                 const std::string& place) {
  if (dimension == Dimension::none) return 1.0;
  if (dimension == Dimension::energy && column.unit == "mj") {
    refuse(place, column, "may be mega- or millijoules; write it in kj or j");
  }
  std::string known;
  std::string_view base;
  for (const Unit& unit : units) {
    if (unit.dimension != dimension) continue;
    if (unit.name == column.unit) return unit.factor;
    if (base.empty() && unit.factor == 1.0) base = unit.name;
    known += (known.empty() ? "" : ", ") + std::string(unit.name);
  }
  refuse(place,
         column,
         fmt::format("has no unit; write it into the header, as {}_{} (known: {})",
                     printable(name),
                     base,
                     known));
}

/// "1,234,567.5", "1_234_567.5" and "1 234 567.5" as "1234567.5": as people group thousands.
std::string without_grouping(const std::string& text) {
  const std::size_t first = text.find_first_of(",_ '");
  if (first == std::string::npos) return text;
  const std::vector<std::string_view> groups = split(std::string_view(text), text[first]);
  std::string digits(groups.front());
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const std::string_view whole = groups[i].substr(0, groups[i].find('.'));
    const bool last = i + 1 == groups.size();
    if (whole.size() != 3 || !std::ranges::all_of(whole, digit) || (!last && whole != groups[i]))
      return text;
    digits += groups[i];
  }
  // "0,512" is a decimal comma, whatever else.
  const std::string_view front = groups.front();
  return !front.empty() && front.size() <= 4 && !front.starts_with('0') ? digits : text;
}

double number_in(const RawCell& cell, const TableColumn& column, const std::string& place) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  const auto& text = std::get<std::string>(cell);
  if (const auto number = parse_number<double>(without_grouping(text))) return *number;
  double start = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), start);
  const bool starts_with_number = error == std::errc{} && std::isfinite(start);
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
    if (column.meaning == Meaning::price) facts.price = dollars_per_hour(value);
    if (column.meaning == Meaning::latency) facts.latencies.push_back({column.latency, value});
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
    throw UserError(
        "{}: the parts are of one {}, the time is of one {}; add a column steps with the number of "
        "steps of the run",
        draft.row.place,
        to_run ? "step" : "run",
        to_run ? "run" : "step");
  }
  for (auto& part : draft.row.parts_s) {
    if (part) part = to_run ? *part * *draft.steps : *part / *draft.steps;
  }
}

/// Batch and microbatches from the batch of a replica and of a microbatch.
void complete_batch(Draft& draft) {
  RowFacts& facts = draft.row.facts;
  const auto& replicas = facts.layout.data;
  if (!replicas || *replicas < 1) return;
  if (!facts.batch && draft.replica_batch) facts.batch = *draft.replica_batch * *replicas;
  const bool known = facts.batch && draft.micro_batch && *draft.micro_batch > 0.0;
  if (known && !facts.microbatches)
    facts.microbatches = *facts.batch / (*replicas * *draft.micro_batch);
}
/// Names of repeats are numbered in the order of their occurrence.
int repeat_of(const RawCell& cell,
              const TableColumn& column,
              const std::string& place,
              std::map<std::string, int>& named) {
  const auto* text = std::get_if<std::string>(&cell);
  const bool number = !text || text->find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (number) return whole(number_in(cell, column, place), column, place);
  const int next = static_cast<int>(named.size()) + static_cast<int>(most_count) + 1;
  return named.emplace(*text, next).first->second;
}

TableRow built_row(const RawRow& raw, const Columns& columns, std::map<std::string, int>& repeats) {
  Draft draft;
  draft.row.place = raw.place;
  bool per_rank = false;
  bool time_per_step = false;
  bool load = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] || columns[i]->meaning == Meaning::identity) continue;
    const TableColumn& column = *columns[i];
    const RawCell& cell = raw.cells[i];
    const bool empty = std::holds_alternative<std::monostate>(cell) || cell == RawCell{""};
    if (empty) {
      if (column.meaning == Meaning::count) refuse(raw.place, column, "is empty");
      continue;
    }
    if (column.meaning == Meaning::repeat) {
      draft.row.repeat = repeat_of(cell, column, raw.place, repeats);
      continue;
    }
    const double value = number_in(cell, column, raw.place);
    if (!(std::abs(value * column.factor) <= 1e40))
      refuse(raw.place,
             column,
             "is not a number up to 1e40; leave the cell empty for a value that is missing");
    per_rank = per_rank || column.per_rank;
    load = load || column.load;
    time_per_step = time_per_step || (column.meaning == Meaning::time && column.per == Per::step);
    const Known& known = column_table[static_cast<std::size_t>(column.meaning)];
    const double base = value * column.factor;
    std::visit(Put{draft, column, raw.place, column.load ? std::round(base * 1e6) / 1e6 : base},
               known.member);
  }
  if (per_rank && !load && draft.row.throughput) {
    draft.row.throughput = *draft.row.throughput * draft.row.count;
  }
  std::ranges::sort(draft.row.facts.latencies, {}, &Latency::name);
  match_parts(draft, time_per_step);
  complete_batch(draft);
  return draft.row;
}

/// The greatest load that all of `loads` are multiples of: 1 for whole ones, and for more than six
/// decimals, which are refused later.
double unit_of(const std::vector<double>& loads) {
  for (std::int64_t scale = 1; scale <= 1'000'000; scale *= 10) {
    std::int64_t unit = 0;
    const auto fits = [&](double load) {
      const double scaled = load * static_cast<double>(scale);
      unit = std::gcd(unit, saturated<std::int64_t>(std::round(scaled)));
      return std::abs(scaled - std::round(scaled)) < 1e-6;
    };
    if (!std::ranges::all_of(loads, fits)) continue;
    return scale > 1 && unit > 0 ? static_cast<double>(unit) / static_cast<double>(scale) : 1.0;
  }
  return 1.0;
}
}  // namespace

std::optional<TableColumn> table_column(const std::string& header, const std::string& place) {
  const HeaderWords words = header_words(header);
  TableColumn column;
  column.name = header;
  column.unit = words.unit;
  for (const Known& known : column_table) {
    // A host without a unit is a machine's name.
    const bool machine = known.meaning == Meaning::host && words.unit.empty();
    column.choice = place_among(known.names, words.name);
    if (words.name.empty() || column.choice == 0 || machine) continue;
    column.meaning = known.meaning;
    column.factor = factor_of(column, words.name, known.dimension, place);
    const bool step = among("step step_time iter iter_time iteration iteration_time", words.name);
    column.per = step ? Per::step : words.per;
    column.nodes = among("nodes num_nodes node_count slices", words.name);
    column.load = among("load users concurrency", words.name);
    return column;
  }
  const auto rate = rate_column(words);
  TableColumn asked = rate.value_or(throughput_column(2));
  asked.name = header;
  asked.unit = words.unit;
  if (rate || words.name.find("throughput") != std::string::npos)
    refuse_unclear(asked, words, place);
  if (rate) return asked;
  if (auto latency = latency_words(words)) {
    column.meaning = Meaning::latency;
    column.latency = std::move(*latency);
    column.factor = factor_of(column, words.name, Dimension::time, place);
    return column;
  }
  return std::nullopt;
}

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s (step_s for one step), compute_s, comm_s, "
         "idle_s, host_s, io_s, repeat, quality, work (or items, tokens), tokens_per_s or another "
         "rate, rate_usd_per_hour, energy_j, power_w, p99_ms or ttft_p99_ms, tp, pp, cp, dp, "
         "batch, microbatches; times in us, ms, s, min, h or days";
}

std::vector<TableRow> built_rows(const RawTable& table, Columns& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] || !columns[i]->load) continue;
    std::vector<double> loads;
    for (const RawRow& row : table.rows) {
      const RawCell& cell = row.cells[i];
      if (std::holds_alternative<std::monostate>(cell) || cell == RawCell{""}) continue;
      const double load = number_in(cell, *columns[i], row.place);
      if (std::abs(load) < most_count) loads.push_back(load);
    }
    columns[i]->factor = 1.0 / unit_of(loads);
  }
  const auto count = std::ranges::find_if(
      columns, [](const auto& column) { return column && column->meaning == Meaning::count; });
  for (const auto& rate : columns) {
    if (!rate || !rate->per_rank || rate->relative || count == columns.end()) continue;
    const bool of_gpus = joined_words((*count)->name).find("gpu") != std::string::npos;
    const bool differs = rate->nodes ? of_gpus : (*count)->nodes;
    if (differs)
      refuse(
          table.place,
          *rate,
          fmt::format("is of another thing than '{}' counts; give the rate of all, as tokens_per_s",
                      printable((*count)->name)));
  }
  std::map<std::string, int> repeats;
  return mapped(table.rows, [&](const RawRow& row) { return built_row(row, columns, repeats); });
}

TableKind kind_of(const Columns& columns) {
  constexpr std::array<std::string_view, 7> nouns{
      "GPUs", "chips", "nodes", "processors", "workers", "slices", "users"};
  TableKind kind;
  bool timed = false;
  bool parts_of_step = false;
  for (const auto& column : columns) {
    if (!column) continue;
    const bool of_step = column->per == Per::step;
    if (column->load) {
      kind.axis = Axis::load;
      kind.load_unit = 1.0 / column->factor;
    }
    if (column->nodes) kind.axis = Axis::nodes;
    const bool counts_work =
        column->meaning == Meaning::work || column->meaning == Meaning::throughput;
    if (counts_work && joined_words(column->name).find("tok") != std::string::npos)
      kind.work_noun = "tokens";
    for (const std::string_view noun : nouns)
      if (column->meaning == Meaning::count &&
          joined_words(column->name).find(joined_words(noun.substr(0, noun.size() - 1))) !=
              std::string::npos)
        kind.noun = noun;
    if (column->meaning == Meaning::time) {
      timed = true;
      if (of_step) kind.basis = TimeBasis::step;
    }
    parts_of_step = parts_of_step || (column->meaning == Meaning::compute && of_step);
  }
  if (!timed && parts_of_step) kind.basis = TimeBasis::step;
  return kind;
}
}  // namespace scaleworth::cli
