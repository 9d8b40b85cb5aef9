// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::report {
Column gpu_column() {
  return parameter("gpu", "GPU", Unit::count);
}

Cell gpu_cell(const model::GpuResult& gpu) {
  return count_cell(gpu.identity.ordinal);
}

std::string shape_text(const model::GemmShape& shape) {
  const std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  return shape.batch == 1 ? text : fmt::format("{} x {}", text, shape.batch);
}

Section gpu_section(const model::Analysis& analysis) {
  Section section{gpu_section_id, "GPUs: what each can do, and what it loses", {}, {}, {}};
  const Gpus& gpus = analysis.gpus;
  if (gpus.empty()) {
    return section;
  }
  for (Table& table : std::vector<Table>{
           gpu_identity_table(gpus),      gpus_together_table(analysis.gpus_together),
           gpu_format_table(gpus),        gpu_condition_table(gpus),
           gpu_waterfall_table(gpus),     gpu_placement_table(gpus),
           gpu_ridge_table(gpus),         gpu_contention_table(gpus),
           gpu_ceiling_table(gpus),       gpu_memory_table(gpus),
           gpu_latency_table(gpus),       gpu_soft_roof_table(gpus),
           gpu_transfer_table(gpus),      gpu_matrix_table(gpus),
           gpu_launch_table(gpus),        gpu_cost_table(gpus, analysis.assumptions),
           gpu_memory_point_table(gpus),  gpu_latency_point_table(gpus),
           gpu_translation_table(gpus),   gpu_intensity_point_table(gpus),
           gpu_transfer_point_table(gpus)}) {
    if (!table.rows.empty()) {
      section.tables.push_back(std::move(table));
    }
  }
  return section;
}

using model::GpuResult;

Table gpu_ceiling_table(const Gpus& gpus) {
  Table table{"gpu_ceilings",
              "Compute ceilings (multiply-adds on registers)",
              {gpu_column(),
               parameter("isa", "unit"),
               parameter("precision", "format"),
               measure("rate", "rate", Unit::flop_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
               measure("clock", "clock", Unit::hertz)},
              {},
              {}};
  table.columns.back().digits = 4;
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.ceilings) {
      const auto& against = found.against;
      table.rows.push_back({{gpu_cell(gpu),
                             found.ceiling.isa,
                             found.ceiling.precision,
                             number(found.ceiling.wall_rate),
                             against ? Cell{number(against->fraction)} : Cell{},
                             against ? cell_or_absent(against->fraction_at_clock) : Cell{},
                             cell_or_absent(found.conditions.clock_hz)}});
    }
  }
  return table;
}

Table gpu_memory_table(const Gpus& gpus) {
  Table table{"gpu_memory_levels",
              "Memory levels (plateaus found in the sweep)",
              {gpu_column(),
               parameter("level", "level"),
               parameter("scope", "scope"),
               parameter("kernel", "kernel"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("variant", "fastest variant")},
              {},
              {"From and to are working sets: for L1 and shared of one multiprocessor, else of all "
               "together. The rate counts explicit loads and stores."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "scope" || column.id == "variant";
  }
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.memory_levels) {
      table.rows.push_back({{gpu_cell(gpu),
                             found.level.label,
                             found.scope,
                             found.level.kernel,
                             number(found.level.smallest),
                             number(found.level.largest),
                             number(found.level.rate),
                             cell_or_absent(found.of_datasheet),
                             found.variant}});
    }
  }
  return table;
}

Table gpu_latency_table(const Gpus& gpus) {
  Table table{"gpu_latency_levels",
              "Memory latency (one dependent load after another)",
              {gpu_column(),
               parameter("level", "level"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("latency", "latency", Unit::seconds),
               measure("cycles", "cycles")},
              {},
              {"Cycles: of the clock counted beside the loads."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.latency_levels) {
      table.rows.push_back({{gpu_cell(gpu),
                             found.level.label,
                             number(found.level.smallest),
                             number(found.level.largest),
                             number(found.level.latency),
                             cell_or_absent(found.cycles)}});
    }
  }
  return table;
}

Table gpu_soft_roof_table(const Gpus& gpus) {
  Table table{"gpu_soft_roofs",
              "Soft roof of the CUDA cores, fitted to the intensity ladder",
              {gpu_column(),
               parameter("precision", "format"),
               measure("peak", "peak", Unit::flop_per_second),
               measure("bandwidth", "bandwidth", Unit::bytes_per_second),
               measure("ridge", "ridge", Unit::flop_per_byte),
               measure("sharpness", "sharpness p"),
               measure("median_residual", "residual", Unit::percent)},
              {},
              {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and compute "
               "perfectly, 1 not at all."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& roof : gpu.roofline.soft_roofs) {
      table.rows.push_back({{gpu_cell(gpu),
                             roof.precision,
                             number(roof.peak),
                             number(roof.bandwidth),
                             number(roof.ridge),
                             number(roof.sharpness),
                             number(roof.median_residual)}});
    }
  }
  return table;
}

Table gpu_memory_point_table(const Gpus& gpus) {
  Table table{"gpu_memory_points",
              "Memory sweep of the device, every size",
              {gpu_column(),
               parameter("kernel", "kernel"),
               parameter("working_set_bytes", "working set", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.roofline.memory) {
      table.rows.push_back(
          {{gpu_cell(gpu), point.kernel, number(point.working_set), number(point.rate)}, true});
    }
  }
  return table;
}

namespace {
Table latency_points(const char* id, const char* title) {
  return {id,
          title,
          {gpu_column(),
           parameter("working_set_bytes", "working set", Unit::bytes),
           measure("latency", "latency", Unit::seconds)},
          {},
          {}};
}
}  // namespace

Table gpu_latency_point_table(const Gpus& gpus) {
  Table table = latency_points("gpu_latency_points", "Latency sweep, every size");
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.roofline.latency) {
      table.rows.push_back(
          {{gpu_cell(gpu), number(point.working_set), number(point.latency)}, true});
    }
  }
  return table;
}

Table gpu_translation_table(const Gpus& gpus) {
  Table table = latency_points("gpu_translation_latency",
                               "Latency with one load per 2 MiB: the reach of address translation");
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.translation_latency) {
      table.rows.push_back(
          {{gpu_cell(gpu), number(point.working_set), number(point.latency)}, true});
    }
  }
  return table;
}

Table gpu_intensity_point_table(const Gpus& gpus) {
  Table table{"gpu_intensity_points",
              "Intensity ladder, every point",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& roof : gpu.roofline.soft_roofs) {
      for (const auto& point : roof.points) {
        table.rows.push_back(
            {{gpu_cell(gpu), roof.precision, number(point.intensity), number(point.rate)}, true});
      }
    }
  }
  return table;
}

Table gpu_identity_table(const Gpus& gpus) {
  Table table{"gpu_identities",
              "The GPUs",
              {gpu_column(),
               measure("name", "name"),
               measure("datasheet", "datasheet"),
               measure("multiprocessors", "multiprocessors", Unit::count),
               measure("memory", "memory", Unit::bytes),
               measure("l2_cache", "L2", Unit::bytes),
               measure("maximum_clock", "highest clock", Unit::hertz),
               measure("power_limit", "power limit", Unit::watts),
               measure("uuid", "UUID"),
               measure("datasheet_source", "source of the datasheet")},
              {},
              {}};
  for (Column& column : table.columns) {
    column.detail = column.id == "uuid" || column.id == "datasheet_source";
    column.digits = column.unit == Unit::hertz ? 4 : 3;
  }
  for (const GpuResult& result : gpus) {
    const auto& gpu = result.identity;
    const auto& sheet = gpu.datasheet;
    table.rows.push_back(
        {{gpu_cell(result),
          gpu.name,
          sheet ? Cell{sheet->name} : Cell{},
          gpu.multiprocessors ? count_cell(*gpu.multiprocessors) : Cell{},
          cell_or_absent(gpu.memory),
          cell_or_absent(gpu.l2_cache),
          cell_or_absent(gpu.maximum_clock_hz),
          cell_or_absent(gpu.power_limit_w),
          gpu.uuid,
          sheet ? Cell{fmt::format("{} ({})", sheet->source, sheet->date)} : Cell{}}});
  }
  return table;
}

Table gpus_together_table(const std::optional<model::GpusTogether>& together) {
  Table table{"gpus_together",
              "All GPUs at once",
              {gpu_column(),
               parameter("precision", "format"),
               measure("together", "together", Unit::flop_per_second),
               measure("of_alone", "of alone", Unit::percent),
               measure("of_others", "of the others", Unit::percent),
               measure("clock", "clock", Unit::hertz),
               measure("power", "power", Unit::watts),
               measure("temperature", "heat", Unit::celsius),
               measure("verdict", "verdict")},
              {},
              {"Of the others: of the median of the other GPUs. Slow: with 95 % confidence more "
               "than 5 % below; "
               "less is normal between equal GPUs. The slowest sets the pace of a common step."}};
  table.columns[5].digits = 4;
  if (!together) {
    return table;
  }
  for (const auto& pace : together->paces) {
    std::string verdict = "normal";
    if (pace.slow) {
      verdict = "slow: " + (pace.cause.empty() ? "unexplained" : pace.cause);
    }
    table.rows.push_back({{count_cell(pace.ordinal),
                           together->precision,
                           number(pace.together),
                           cell_or_absent(pace.of_alone),
                           cell_or_absent(pace.of_others),
                           cell_or_absent(pace.conditions.clock_hz),
                           cell_or_absent(pace.conditions.power_w),
                           cell_or_absent(pace.conditions.temperature_c),
                           verdict}});
  }
  return table;
}

Table gpu_cost_table(const Gpus& gpus, const model::AnalysisOptions& assumptions) {
  Table table{"gpu_costs",
              "Cost of work",
              {gpu_column(),
               parameter("precision", "format"),
               measure("per_exaflop", "per EFLOP", Unit::dollars),
               measure("per_terabyte", "per TB read from memory", Unit::dollars)},
              {},
              {}};
  if (assumptions.price_per_rank) {
    table.notes.push_back(fmt::format("At {:g} USD per GPU-hour; steady rate, price exact.",
                                      assumptions.price_per_rank->value() * 3600.0));
  }
  for (const GpuResult& gpu : gpus) {
    if (gpu.cost) {
      table.rows.push_back({{gpu_cell(gpu),
                             gpu.cost->precision,
                             cell_or_absent(gpu.cost->per_exaflop),
                             cell_or_absent(gpu.cost->per_terabyte)}});
    }
  }
  return table;
}
using model::GpuTransfer;

namespace {
std::string directions_text(const GpuTransfer& transfer) {
  return transfer.both_directions ? "both" : "one";
}

std::string pass_text(const GpuTransfer& transfer) {
  return transfer.together ? "all at once" : "alone";
}

std::vector<Column> transfer_parameters() {
  Column gpu = gpu_column();
  gpu.detail = true;  // the ends name it
  return {std::move(gpu),
          parameter("source", "from"),
          parameter("target", "to"),
          parameter("engine", "engine"),
          parameter("directions", "directions"),
          parameter("pass", "GPUs")};
}

std::vector<Cell> transfer_cells(const GpuResult& gpu, const GpuTransfer& transfer) {
  return {gpu_cell(gpu),
          transfer.source,
          transfer.target,
          transfer.engine,
          directions_text(transfer),
          pass_text(transfer)};
}
}  // namespace

Table gpu_transfer_table(const Gpus& gpus) {
  Table table{"gpu_transfers",
              "Transfers: T(n) = alpha + n beta",
              transfer_parameters(),
              {},
              {"Rate at the largest size, all directions together. Half at: the size that reaches "
               "half of it. Of link: of the raw rate of the slowest link on the way, where it is "
               "known."}};
  for (const Column& column : {measure("rate", "rate", Unit::bytes_per_second),
                               measure("of_link", "of link", Unit::percent),
                               measure("link", "link"),
                               measure("alpha", "alpha", Unit::seconds),
                               measure("half_size", "half at", Unit::bytes)}) {
    table.columns.push_back(column);
  }
  for (Column& column : table.columns) {
    column.detail = column.detail || column.id == "link";
  }
  table.columns.back().own_scale = true;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      Row row{transfer_cells(gpu, transfer)};
      row.cells.insert(row.cells.end(),
                       {number(transfer.plateau),
                        cell_or_absent(transfer.of_link),
                        transfer.link,
                        cell_or_absent(transfer.alpha),
                        cell_or_absent(transfer.half_size)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table gpu_transfer_point_table(const Gpus& gpus) {
  Table table{"gpu_transfer_points", "Transfers, every size", transfer_parameters(), {}, {}};
  table.columns.push_back(parameter("message_bytes", "size", Unit::bytes));
  table.columns.push_back(measure("rate", "rate", Unit::bytes_per_second));
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      for (const auto& point : transfer.points) {
        Row row{transfer_cells(gpu, transfer), true};
        row.cells.emplace_back(number(point.size));
        row.cells.emplace_back(number(point.rate));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

namespace {
void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

/// One way, copy engine, alone, pinned memory, not within one GPU.
std::vector<const GpuTransfer*> matrix_entries(const Gpus& gpus) {
  std::vector<const GpuTransfer*> entries;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      const bool pageable =
          (transfer.source + transfer.target).find("pageable") != std::string::npos;
      if (transfer.both_directions || transfer.together || transfer.engine != "copy engine" ||
          pageable || transfer.source == transfer.target) {
        continue;
      }
      entries.push_back(&transfer);
    }
  }
  return entries;
}
}  // namespace

Table gpu_matrix_table(const Gpus& gpus) {
  Table table{"gpu_transfer_matrix",
              "Who reaches whom how fast (copy engine, one way, one pair at a time)",
              {parameter("source", "from")},
              {},
              {}};
  table.in_csv = false;
  const auto entries = matrix_entries(gpus);
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (const GpuTransfer* entry : entries) {
    add_once(sources, entry->source);
    add_once(targets, entry->target);
  }
  if (sources.size() < 3) {
    return table;
  }
  std::sort(sources.begin(), sources.end());
  std::sort(targets.begin(), targets.end());
  for (const std::string& target : targets) {
    table.columns.push_back(measure(target, "to " + target, Unit::bytes_per_second));
  }
  for (const std::string& source : sources) {
    Row row{{source}};
    for (const std::string& target : targets) {
      const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto* entry) {
        return entry->source == source && entry->target == target;
      });
      row.cells.push_back(found == entries.end() ? Cell{} : Cell{number((*found)->plateau)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gpu_launch_table(const Gpus& gpus) {
  Table table{
      "gpu_launches",
      "Launches",
      {gpu_column(), parameter("launch", "what"), measure("time", "time", Unit::seconds)},
      {},
      {"Kernel and graph node: per launch in a long queue. Launch and wait: as the host sees "
       "it."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& launch : gpu.launches) {
      table.rows.push_back({{gpu_cell(gpu), launch.kind, number(launch.time)}});
    }
  }
  return table;
}

namespace {
using model::GpuResult;

/// The GPU of one model that was measured most, and how many there are of it.
struct Kind {
  const GpuResult* shown = nullptr;
  int count = 0;
};

std::size_t figures(const GpuResult& gpu) {
  return gpu.formats.size() + gpu.memory_levels.size() + gpu.latency_levels.size() +
         gpu.transfers.size();
}

std::vector<Kind> kinds_of(const std::vector<GpuResult>& gpus) {
  std::vector<Kind> kinds;
  for (const GpuResult& gpu : gpus) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.shown->identity.name == gpu.identity.name;
    });
    if (known == kinds.end()) {
      kinds.push_back({&gpu, 1});
      continue;
    }
    ++known->count;
    if (figures(gpu) > figures(*known->shown)) {
      known->shown = &gpu;
    }
  }
  return kinds;
}

/// "2 x NVIDIA H200, shown by GPU 0: 132 multiprocessors, up to 1.980 GHz, 700 W, 141 GB".
std::string kind_line(const Kind& kind) {
  const auto& gpu = kind.shown->identity;
  std::string line = fmt::format("{} x {}", kind.count, gpu.name.empty() ? "GPU" : gpu.name);
  if (kind.count > 1) {
    line += fmt::format(" (figures of GPU {})", gpu.ordinal);
  }
  if (gpu.multiprocessors) {
    line += fmt::format(", {} multiprocessors", *gpu.multiprocessors);
  }
  if (gpu.maximum_clock_hz) {
    line += ", up to " + format_quantity(number(*gpu.maximum_clock_hz), Unit::hertz, 4);
  }
  if (gpu.power_limit_w) {
    line += ", limit " + format_quantity(number(*gpu.power_limit_w), Unit::watts);
  }
  if (gpu.memory) {
    line += ", " + format_quantity(number(*gpu.memory), Unit::bytes);
  }
  return line;
}
}  // namespace

Section gpu_summary(const model::Analysis& analysis) {
  Section section{"gpus", "", {}, {}, {}};
  for (const Kind& kind : kinds_of(analysis.gpus)) {
    section.lead.push_back(kind_line(kind));
    for (Table& table : std::vector<Table>{summary_products(*kind.shown),
                                           summary_own_products(*kind.shown),
                                           summary_memory(*kind.shown),
                                           summary_transfers(*kind.shown, analysis.gpus)}) {
      if (!table.rows.empty()) {
        section.tables.push_back(std::move(table));
      }
    }
  }
  return section;
}

namespace {
constexpr std::array levels{"shared", "L1", "L2", "memory"};

using Values = std::vector<std::optional<Number>>;

bool any(const Values& values) {
  return std::any_of(
      values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
}

Values rates_of(const GpuResult& gpu, const std::string& kernel) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> rate;
    for (const auto& found : gpu.memory_levels) {
      if (found.level.label == label && found.level.kernel == kernel) {
        rate = number(found.level.rate);
      }
    }
    values.push_back(rate);
  }
  return values;
}

template <class Figure>
Values latencies_of(const GpuResult& gpu, const Figure& figure) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> value;
    for (const auto& found : gpu.latency_levels) {
      if (found.level.label == label) {
        value = figure(found);
      }
    }
    values.push_back(value);
  }
  return values;
}
}  // namespace

Table summary_memory(const GpuResult& gpu) {
  Table table{"gpu_levels", "", {}, {}, {}};
  table.columns.push_back(parameter("what", fmt::format("GPU {} memory", gpu.identity.ordinal)));
  for (const char* label : levels) {
    table.columns.push_back(measure(label, label));
  }
  for (const char* kernel : {"read", "write", "copy", "triad"}) {
    const Values rates = rates_of(gpu, kernel);
    if (any(rates)) {
      table.rows.push_back(row_of(kernel, rates, Unit::bytes_per_second));
    }
  }
  const Values times = latencies_of(
      gpu, [](const auto& found) { return std::optional(number(found.level.latency)); });
  const Values cycles = latencies_of(gpu, [](const auto& found) { return found.cycles; });
  if (any(times)) {
    table.rows.push_back(row_of("latency", times, Unit::seconds));
  }
  if (any(cycles)) {
    table.rows.push_back(row_of("latency (cycles)", cycles, Unit::plain));
  }
  for (const auto& found : gpu.memory_levels) {
    if (found.of_datasheet && found.level.kernel == "read") {
      table.notes.push_back(fmt::format(
          "Memory reads are {} % of the datasheet's {}.",
          format_number(number(*found.of_datasheet), Unit::percent, scale_for(Unit::percent, 1.0)),
          format_quantity(number(*gpu.identity.datasheet->memory_bandwidth),
                          Unit::bytes_per_second)));
    }
  }
  return table;
}

namespace {
using model::GpuTransfer;

Row transfer_row(const std::string& name, const GpuTransfer& transfer) {
  return {{name,
           number(transfer.plateau),
           cell_or_absent(transfer.of_link),
           cell_or_absent(transfer.alpha),
           cell_or_absent(transfer.half_size)}};
}

const GpuTransfer* host_transfer(const GpuResult& gpu, bool to_gpu, bool both) {
  for (const GpuTransfer& transfer : gpu.transfers) {
    const std::string& host = to_gpu ? transfer.source : transfer.target;
    if (host == "host (pinned)" && transfer.both_directions == both && !transfer.together &&
        transfer.engine == "copy engine") {
      return &transfer;
    }
  }
  return nullptr;
}

/// One way to another GPU by the copy engine: the slowest and the fastest pair of the node.
void add_peers(const std::vector<GpuResult>& gpus, Table& table) {
  const GpuTransfer* slowest = nullptr;
  const GpuTransfer* fastest = nullptr;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      const bool peers = transfer.source.starts_with("gpu") && transfer.target.starts_with("gpu") &&
                         transfer.source != transfer.target;
      if (!peers || transfer.both_directions || transfer.together ||
          transfer.engine != "copy engine") {
        continue;
      }
      const auto rate = transfer.plateau.value;
      slowest = slowest == nullptr || rate < slowest->plateau.value ? &transfer : slowest;
      fastest = fastest == nullptr || rate > fastest->plateau.value ? &transfer : fastest;
    }
  }
  if (slowest == nullptr) {
    return;
  }
  const auto name = [](const char* which, const GpuTransfer& transfer) {
    return fmt::format("{} pair: {} to {}", which, transfer.source, transfer.target);
  };
  table.rows.push_back(transfer_row(name("slowest", *slowest), *slowest));
  if (fastest != slowest) {
    table.rows.push_back(transfer_row(name("fastest", *fastest), *fastest));
  }
}
}  // namespace

Table summary_transfers(const GpuResult& gpu, const std::vector<GpuResult>& gpus) {
  Table table{"gpu_links",
              "",
              {parameter("what", fmt::format("GPU {} transfers", gpu.identity.ordinal)),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("of_link", "of link", Unit::percent),
               measure("alpha", "latency", Unit::seconds),
               measure("half_size", "half the rate at", Unit::bytes)},
              {},
              {}};
  table.columns.back().own_scale = true;
  struct Wanted {
    const char* name;
    bool to_gpu, both;
  };
  for (const Wanted& wanted : {Wanted{"host to GPU (pinned)", true, false},
                               Wanted{"GPU to host (pinned)", false, false},
                               Wanted{"both directions", true, true}}) {
    if (const auto* transfer = host_transfer(gpu, wanted.to_gpu, wanted.both)) {
      table.rows.push_back(transfer_row(wanted.name, *transfer));
    }
  }
  add_peers(gpus, table);
  return table;
}
}  // namespace scaleworth::report
