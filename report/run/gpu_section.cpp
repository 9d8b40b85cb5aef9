// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"
#include "src/model/gpu.h"

#include <array>
#include <map>
#include <set>

namespace scaleworth::report {
Column gpu_column() {
  return parameter("gpu", "GPU", Unit::count);
}

int gpu_ordinal(const model::GpuResult& gpu) {
  return gpu.identity.ordinal;
}

std::string shape_text(const model::GemmShape& shape) {
  const std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  return shape.batch == 1 ? text : fmt::format("{} x {}", text, shape.batch);
}

namespace {
using namespace model;

Table gpu_identity_table(const Gpus& gpus) {
  const auto of = [](auto... members) { return path(&GpuResult::identity, members...); };
  const auto source = [](const GpuDatasheet& sheet) {
    return fmt::format("{} ({})", sheet.source, sheet.date);
  };
  return make_table(
      "gpu_identities",
      "The GPUs",
      gpus,
      {{gpu_column(), gpu_ordinal},
       {measure("name", "name"), of(&GpuIdentity::name)},
       {measure("datasheet", "datasheet"), of(&GpuIdentity::datasheet, &GpuDatasheet::name)},
       {measure("multiprocessors", "multiprocessors", Unit::count),
        of(&GpuIdentity::multiprocessors)},
       {measure("memory", "memory", Unit::bytes), of(&GpuIdentity::memory)},
       {measure("l2_cache", "L2", Unit::bytes), of(&GpuIdentity::l2_cache)},
       {measure("maximum_clock", "highest clock", Unit::hertz).with_digits(4),
        of(&GpuIdentity::maximum_clock_hz)},
       {measure("power_limit", "power limit", Unit::watts), of(&GpuIdentity::power_limit_w)},
       {measure("uuid", "UUID").as_detail(), of(&GpuIdentity::uuid)},
       {measure("datasheet_source", "source of the datasheet").as_detail(),
        of(&GpuIdentity::datasheet, source)}});
}

Table gpus_together_table(const std::optional<GpusTogether>& together) {
  const auto verdict = [](const GpuPace& pace) -> std::string {
    if (!pace.slow) return "normal";
    return "slow: " + (pace.cause.empty() ? "unexplained" : pace.cause);
  };
  const auto at = [](auto member) { return path(&GpuPace::conditions, member); };
  return make_table(
      "gpus_together",
      "All GPUs at once",
      together ? together->paces : std::vector<GpuPace>{},
      {{gpu_column(), &GpuPace::ordinal},
       {parameter("precision", "format"), [&](const GpuPace&) { return together->precision; }},
       {measure("together", "together", Unit::flop_per_second), &GpuPace::together},
       {measure("of_alone", "of alone", Unit::percent), &GpuPace::of_alone},
       {measure("of_others", "of the others", Unit::percent), &GpuPace::of_others},
       {measure("clock", "clock", Unit::hertz).with_digits(4), at(&GpuConditions::clock_hz)},
       {measure("power", "power", Unit::watts), at(&GpuConditions::power_w)},
       {measure("temperature", "heat", Unit::celsius), at(&GpuConditions::temperature_c)},
       {measure("verdict", "verdict"), verdict}},
      {"Of the others: of the median of the other GPUs. Slow: with 95 % confidence more than 5 % "
       "below; less is normal between equal GPUs. The slowest sets the pace of a common step."});
}

std::vector<FieldOf<GpuCost>> cost_fields() {
  return {{parameter("precision", "format"), &GpuCost::precision},
          {measure("per_exaflop", "per EFLOP", Unit::dollars),
           &GpuCost::per_exaflop,
           "usd_per_exaflop"},
          {measure("per_terabyte", "per TB read from memory", Unit::dollars),
           &GpuCost::per_terabyte,
           "usd_per_terabyte"}};
}

using Launch = MeasuredAt<LaunchKind, Seconds>;
std::vector<FieldOf<Launch>> launch_fields() {
  return {{parameter("launch", "what"), &Launch::at, "kind"},
          {measure("time", "time", Unit::seconds), &Launch::value}};
}

Table gpu_cost_table(const Gpus& gpus, const AnalysisOptions& assumptions) {
  Table table =
      gpu_table("gpu_costs", "Cost of work", nested(gpus, &GpuResult::cost), cost_fields());
  if (assumptions.price_per_rank) {
    table.notes.push_back(fmt::format("At {:g} USD per GPU-hour; steady rate, price exact.",
                                      assumptions.price_per_rank->value() * 3600.0));
  }
  return table;
}

/// The columns that name a transfer, then `measures`; the ends name the GPU.
template <class Nested>
std::vector<ColumnOf<Nested>> transfer_columns(const std::vector<ColumnOf<Nested>>& measures) {
  const auto directions = [](bool both) { return both ? "both" : "one"; };
  const auto pass = [](bool together) { return together ? "all at once" : "alone"; };
  std::vector<ColumnOf<Nested>> columns{
      {gpu_column().as_detail(), gpu_ordinal},
      {parameter("source", "from"), &GpuTransfer::source},
      {parameter("target", "to"), &GpuTransfer::target},
      {parameter("engine", "engine"), &GpuTransfer::engine},
      {parameter("directions", "directions"), path(&GpuTransfer::both_directions, directions)},
      {parameter("pass", "GPUs"), path(&GpuTransfer::together, pass)}};
  columns.insert(columns.end(), measures.begin(), measures.end());
  return columns;
}

Table gpu_transfer_table(const Gpus& gpus) {
  return make_table(
      "gpu_transfers",
      "Transfers: T(n) = alpha + n beta",
      nested(gpus, &GpuResult::transfers),
      transfer_columns<Nested<GpuResult, GpuTransfer>>(
          {{measure("rate", "rate", Unit::bytes_per_second), &GpuTransfer::plateau},
           {measure("of_link", "of link", Unit::percent), &GpuTransfer::of_link},
           {measure("link", "link").as_detail(), &GpuTransfer::link},
           {measure("alpha", "alpha", Unit::seconds), &GpuTransfer::alpha},
           {measure("half_size", "half at", Unit::bytes).in_own_scale(), &GpuTransfer::half_size}}),
      {"Rate at the largest size, all directions together. Half at: the size that reaches half of "
       "it. Of link: of the raw rate of the slowest link on the way, where it is known."});
}

Table transfer_points_table(const Gpus& gpus) {
  using Sized = MeasuredAt<Bytes, BytesPerSecond>;
  return make_table("gpu_transfer_points",
                    "Transfers, every size",
                    nested(nested(gpus, &GpuResult::transfers), &GpuTransfer::points),
                    transfer_columns<Nested<GpuResult, GpuTransfer, Sized>>(
                        {{parameter("message_bytes", "size", Unit::bytes), &Sized::at},
                         {measure("rate", "rate", Unit::bytes_per_second), &Sized::value}}));
}

/// By the copy engine while no other GPU does the same.
bool is_copied_alone(const GpuTransfer& transfer) {
  return !transfer.together && transfer.engine == TransferEngine::copy_engine;
}

bool is_one_way(const GpuTransfer& transfer) {
  return !transfer.both_directions && transfer.source != transfer.target &&
         is_copied_alone(transfer);
}

/// One way, copy engine, alone, pinned memory, not within one GPU: the rate from source to target.
Table gpu_matrix_table(const Gpus& gpus) {
  Table table{"gpu_transfer_matrix",
              "Who reaches whom how fast (copy engine, one way, one pair at a time)",
              {parameter("source", "from")}};
  table.in_csv = false;
  std::map<MemoryPlace, std::map<MemoryPlace, Cell>> rates;  // by source and target
  std::set<MemoryPlace> targets;
  for (const auto& row : nested(gpus, &GpuResult::transfers)) {
    const GpuTransfer& one = *std::get<1>(row.levels);
    const bool pageable = one.source.kind == TransferEnd::host_pageable ||
                          one.target.kind == TransferEnd::host_pageable;
    if (pageable || !is_one_way(one)) continue;
    rates[one.source].try_emplace(one.target, number(one.plateau));
    targets.insert(one.target);
  }
  if (rates.size() < 3) return table;
  for (const MemoryPlace& target : targets) {
    const std::string name = word_of(target);
    table.columns.push_back(measure(name, "to " + name, Unit::bytes_per_second));
  }
  for (auto& [source, rate_to] : rates) {
    Row row{{word_of(source)}};
    for (const MemoryPlace& target : targets) row.cells.push_back(rate_to[target]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The GPU of one model that was measured most, and how many there are of it.
struct Kind {
  const GpuResult* shown = nullptr;
  int count = 0;
};

std::vector<Kind> kinds_of(const Gpus& gpus) {
  const auto figures = [](const GpuResult& gpu) {
    return gpu.formats.size() + gpu.roofline.memory_levels.size() +
           gpu.roofline.latency_levels.size() + (gpu.transfers.empty() ? 0 : 1);
  };
  std::vector<Kind> kinds;
  for (const GpuResult& gpu : gpus) {
    const auto known = std::ranges::find(
        kinds, gpu.identity.name, [](const Kind& kind) { return kind.shown->identity.name; });
    if (known == kinds.end()) {
      kinds.push_back({&gpu, 1});
      continue;
    }
    ++known->count;
    if (figures(gpu) > figures(*known->shown)) known->shown = &gpu;
  }
  return kinds;
}

/// "2 x NVIDIA H200, shown by GPU 0: 132 multiprocessors, up to 1.980 GHz, 700 W, 141 GB".
std::string kind_line(const Kind& kind) {
  const auto& gpu = kind.shown->identity;
  std::string line = fmt::format("{} x {}", kind.count, gpu.name.empty() ? "GPU" : gpu.name);
  if (kind.count > 1) line += fmt::format(" (figures of GPU {})", gpu.ordinal);
  if (gpu.multiprocessors) line += fmt::format(", {} multiprocessors", *gpu.multiprocessors);
  if (gpu.maximum_clock_hz) {
    line += ", up to " + format_quantity(number(*gpu.maximum_clock_hz), Unit::hertz, 4);
  }
  if (gpu.power_limit_w) {
    line += ", limit " + format_quantity(number(*gpu.power_limit_w), Unit::watts);
  }
  if (gpu.memory) line += ", " + format_quantity(number(*gpu.memory), Unit::bytes);
  return line;
}

constexpr std::array levels{
    MemoryLevelName::shared, MemoryLevelName::l1, MemoryLevelName::l2, MemoryLevelName::memory};

using Values = std::vector<std::optional<Number>>;

/// What `figure` finds at each level, in their order; the last of several.
template <class Level, class Figure>
Values by_level(const std::vector<Level>& found, const Figure& figure) {
  Values values;
  for (const MemoryLevelName name : levels) {
    std::optional<Number> value;
    for (const Level& one : found) {
      const std::optional<Number> here = one.name.known == name ? figure(one) : std::nullopt;
      if (here) value = here;
    }
    values.push_back(value);
  }
  return values;
}

Table summary_memory(const GpuResult& gpu) {
  Table table{"gpu_levels", "", {}, {}, {}};
  table.columns.push_back(parameter("what", fmt::format("GPU {} memory", gpu.identity.ordinal)));
  for (const MemoryLevelName name : levels) {
    table.columns.push_back(measure(word_of(name), word_of(name)));
  }
  const auto add = [&](const char* name, const Values& values, Unit unit) {
    const bool any = std::ranges::any_of(values, &std::optional<Number>::has_value);
    if (any) table.rows.push_back(row_of(name, values, unit));
  };
  for (const MemoryKernel kernel : every<MemoryKernel>) {
    const auto rate = [&](const MemoryLevel& level) {
      return level.stream.kernel == kernel ? std::optional(number(level.value)) : std::nullopt;
    };
    add(word_of(kernel), by_level(gpu.roofline.memory_levels, rate), Unit::bytes_per_second);
  }
  const auto& latencies = gpu.roofline.latency_levels;
  const auto time = [](const LatencyLevel& level) { return std::optional(number(level.value)); };
  const auto cycles = [](const LatencyLevel& level) { return level.cycles; };
  add("latency", by_level(latencies, time), Unit::seconds);
  add("latency (cycles)", by_level(latencies, cycles), Unit::plain);
  for (const MemoryLevel& found : gpu.roofline.memory_levels) {
    if (found.of_datasheet && found.stream.kernel == MemoryKernel::read) {
      table.notes.push_back(fmt::format(
          "Memory reads are {} % of the datasheet's {}.",
          format_number(number(*found.of_datasheet), Unit::percent, scale_for(Unit::percent, 1.0)),
          format_quantity(number(*gpu.identity.datasheet->memory_bandwidth),
                          Unit::bytes_per_second)));
    }
  }
  return table;
}

using NamedTransfer = std::pair<std::string, const GpuTransfer*>;

const GpuTransfer* host_transfer(const GpuResult& gpu, bool to_gpu, bool both) {
  for (const GpuTransfer& transfer : gpu.transfers) {
    const MemoryPlace& host = to_gpu ? transfer.source : transfer.target;
    const bool wanted = host == MemoryPlace{} && transfer.both_directions == both;
    if (wanted && is_copied_alone(transfer)) return &transfer;
  }
  return nullptr;
}

/// One way to another GPU by the copy engine: the slowest and the fastest pair of the node.
void add_peers(const Gpus& gpus, std::vector<NamedTransfer>& rows) {
  std::vector<const GpuTransfer*> pairs;
  for (const auto& row : nested(gpus, &GpuResult::transfers)) {
    const GpuTransfer& one = *std::get<1>(row.levels);
    const bool peers = one.source.kind == TransferEnd::gpu && one.target.kind == TransferEnd::gpu;
    if (peers && is_one_way(one)) pairs.push_back(&one);
  }
  if (pairs.empty()) return;
  const auto rate = [](const GpuTransfer* pair) { return pair->plateau.value; };
  const GpuTransfer* slowest = *std::ranges::min_element(pairs, {}, rate);
  const GpuTransfer* fastest = *std::ranges::max_element(pairs, {}, rate);
  const auto add = [&](const char* which, const GpuTransfer* pair) {
    rows.push_back(
        {fmt::format("{} pair: {} to {}", which, word_of(pair->source), word_of(pair->target)),
         pair});
  };
  add("slowest", slowest);
  if (fastest != slowest) add("fastest", fastest);
}

Table summary_transfers(const GpuResult& gpu, const Gpus& gpus) {
  std::vector<NamedTransfer> rows{{"host to GPU (pinned)", host_transfer(gpu, true, false)},
                                  {"GPU to host (pinned)", host_transfer(gpu, false, false)},
                                  {"both directions", host_transfer(gpu, true, true)}};
  std::erase_if(rows, [](const NamedTransfer& row) { return !row.second; });
  add_peers(gpus, rows);
  const auto of = [](auto member) { return path(&NamedTransfer::second, member); };
  return make_table("gpu_links",
                    "",
                    rows,
                    {{parameter("what", fmt::format("GPU {} transfers", gpu.identity.ordinal)),
                      &NamedTransfer::first},
                     {measure("rate", "rate", Unit::bytes_per_second), of(&GpuTransfer::plateau)},
                     {measure("of_link", "of link", Unit::percent), of(&GpuTransfer::of_link)},
                     {measure("alpha", "latency", Unit::seconds), of(&GpuTransfer::alpha)},
                     {measure("half_size", "half the rate at", Unit::bytes).in_own_scale(),
                      of(&GpuTransfer::half_size)}});
}

void put_identity(Fields& json, const GpuIdentity& one) {
  json.members("ordinal", one.ordinal, "name", one.name, "uuid", or_null(one.uuid));
  json("pci_device_id", one.pci_device_id);
  json.members("multiprocessors", one.multiprocessors, "memory_bytes", one.memory);
  json.members("l2_bytes", one.l2_cache, "maximum_clock_hz", one.maximum_clock_hz);
  json("power_limit_w", one.power_limit_w);
  json("power_limit_default_w", one.default_power_limit_w);
  json.members("pcie_bytes_per_s", one.pcie_bandwidth, "mig", one.mig);
  json.object("datasheet", one.datasheet, [](Fields& of, const GpuDatasheet& sheet) {
    of.members("id", sheet.id, "name", sheet.name, "source", sheet.source, "date", sheet.date);
  });
}

void put_transfer(Fields& json, const GpuTransfer& one) {
  json.members("source", word_of(one.source), "target", word_of(one.target));
  json.members("engine", word_of(one.engine), "both_directions", one.both_directions);
  json.members("all_gpus_at_once", one.together, "plateau_bytes_per_s", one.plateau);
  json.members("alpha_s", one.alpha, "beta_s_per_byte", one.beta);
  json.members("half_size_bytes", one.half_size, "link", or_null(one.link), "of_link", one.of_link);
  json.array("points", one.points, [](Fields& of, const auto& point) {
    of.members("bytes", point.at, "rate_bytes_per_s", point.value);
  });
}
}  // namespace

Section gpu_section(const Analysis& analysis) {
  const Gpus& gpus = analysis.gpus;
  std::vector<Table> tables{gpu_identity_table(gpus), gpus_together_table(analysis.gpus_together)};
  const auto add = [&](const std::vector<Table>& more) {
    tables.insert(tables.end(), more.begin(), more.end());
  };
  add(gpu_product_tables(gpus));
  add(gpu_roofline_tables(gpus));
  add({gpu_transfer_table(gpus),
       gpu_matrix_table(gpus),
       gpu_table("gpu_launches",
                 "Launches",
                 nested(gpus, &GpuResult::launches),
                 launch_fields(),
                 {"Kernel and graph node: per launch in a long queue. Launch and wait: as the "
                  "host sees it."}),
       gpu_cost_table(gpus, analysis.assumptions)});
  std::vector<Table> sweeps = gpu_sweep_tables(gpus);
  sweeps.push_back(transfer_points_table(gpus));
  for (Table& table : sweeps) tables.push_back(all_detail(std::move(table)));
  return section_of(gpu_section_id, "GPUs: what each can do, and what it loses", std::move(tables));
}

Section gpu_summary(const Analysis& analysis) {
  Section section{gpu_section_id, ""};
  for (const Kind& kind : kinds_of(analysis.gpus)) {
    section.lead.push_back(kind_line(kind));
    for (Table& table : summary_products(*kind.shown)) section.tables.push_back(table);
    section.tables.push_back(summary_memory(*kind.shown));
    section.tables.push_back(summary_transfers(*kind.shown, analysis.gpus));
  }
  return section;
}

void put_gpu(Fields& json, const GpuResult& gpu) {
  json.object("identity", gpu.identity, put_identity);
  json.array("formats", gpu.formats, put_format);
  put_gpu_levels(json, gpu.roofline);
  json.array("placements", gpu.roofline.gemms, [](Fields& of, const PlacedGemm& one) {
    of("name", one.name, or_null);
    of.object("product", one, put_placed_gemm);
    of("of_datasheet", one.of_datasheet);
  });
  put_array(json, "ridge_batches", gpu.ridge_batches, ridge_fields());
  json.array("transfers", gpu.transfers, put_transfer);
  put_array(json, "launches", gpu.launches, launch_fields());
  put_array(json, "contention", gpu.contention, contention_fields());
  json.object(
      "cost", gpu.cost, [](Fields& of, const GpuCost& one) { put_fields(of, one, cost_fields()); });
  json.object("roofline", gpu.roofline, put_roofline);
  json("warnings", gpu.warnings);
}

void put_gpus_together(Fields& json, const GpusTogether& together) {
  json.members("precision", together.precision, "spread", together.spread);
  json("slowest", together.slowest);
  json.array("gpus", together.paces, [](Fields& of, const GpuPace& pace) {
    of.members("ordinal", pace.ordinal, "together_flop_per_s", pace.together);
    of.members("alone_flop_per_s", pace.alone, "of_alone", pace.of_alone);
    of("of_others", pace.of_others);
    of.object("conditions", pace.conditions, put_conditions);
    of.members("slow", pace.slow, "cause", or_null(pace.cause));
  });
}
}  // namespace scaleworth::report
