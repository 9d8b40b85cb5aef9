// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/model/gpu.h"

#include <string>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using model::GpuFormat;
using model::GpuGemm;
using model::GpuResult;

std::string format_of(const GpuFormat& format) {
  return model::format_text(format.precision, format.fast_accumulation);
}

Cell rate_cell(const std::optional<GpuGemm>& gemm) {
  return gemm ? Cell{number(gemm->rate)} : Cell{};
}

Cell shape_cell(const std::optional<GpuGemm>& gemm) {
  return gemm ? Cell{shape_text(gemm->shape)} : Cell{};
}

Column with_digits(Column column, int digits) {
  column.digits = digits;
  return column;
}

std::string basis_note(const GpuResult& gpu) {
  std::string bases;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) {
      continue;
    }
    const auto& against = *format.steady->against;
    const std::string basis =
        format_quantity(number(against.peak.value()), Unit::flop_per_second, 4) + " (" +
        against.basis + ")";
    if (bases.find(basis) == std::string::npos) {
      bases += (bases.empty() ? "" : "; ") + basis;
    }
  }
  return bases;
}

void add_conditions(const GpuResult& gpu,
                    const GpuFormat& format,
                    const std::optional<GpuGemm>& gemm,
                    Table& table) {
  if (!gemm) {
    return;
  }
  const auto& against = gemm->against;
  const auto& conditions = gemm->conditions;
  std::string reasons;
  for (const auto& [reason, share] : conditions.slowdown_reasons) {
    reasons += (reasons.empty() ? "" : ", ") + reason + " " +
               format_quantity(number(share), Unit::percent);
  }
  table.rows.push_back({{gpu_cell(gpu),
                         format_of(format),
                         gemm->pass,
                         number(gemm->rate),
                         against ? Cell{number(against->fraction)} : Cell{},
                         against ? cell_or_absent(against->fraction_at_clock) : Cell{},
                         cell_or_absent(conditions.clock_hz),
                         against ? cell_or_absent(against->clock_ratio) : Cell{},
                         cell_or_absent(conditions.power_w),
                         cell_or_absent(conditions.temperature_c),
                         cell_or_absent(gemm->flop_per_joule),
                         reasons,
                         gemm->algorithm,
                         gemm->library}});
}
}  // namespace

Table gpu_format_table(const Gpus& gpus) {
  Table table{
      "gpu_formats",
      "Library matrix products by number format",
      {gpu_column(),
       parameter("precision", "format"),
       measure("steady", "steady", Unit::flop_per_second),
       measure("steady_shape", "shape"),
       measure("burst", "burst", Unit::flop_per_second),
       measure("best_shape_rate", "best shape's", Unit::flop_per_second),
       measure("best_shape", "best shape"),
       measure("tuning_headroom", "tuning gain", Unit::percent)},
      {},
      {"Steady: no gap between products, clock settled. Burst: the first 100 ms after a "
       "pause. Best shape: the fastest that the search found with a reset between products, "
       "comparable with MAMF tables; a maximum, so a little optimistic. Tuning gain: best "
       "algorithm over the library's first proposal."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "steady_shape";
  }
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      Cell headroom;
      if (format.tuning_headroom) {
        headroom = transform(*format.tuning_headroom, [](double ratio) { return ratio - 1.0; });
      }
      table.rows.push_back({{gpu_cell(gpu),
                             format_of(format),
                             rate_cell(format.steady),
                             shape_cell(format.steady),
                             rate_cell(format.burst),
                             rate_cell(format.best_shape),
                             shape_cell(format.best_shape),
                             headroom}});
    }
  }
  return table;
}

Table gpu_condition_table(const Gpus& gpus) {
  Table table{
      "gpu_conditions",
      "Clock, power and share of the datasheet of these products",
      {gpu_column(),
       parameter("precision", "format"),
       parameter("pass", "pass"),
       measure("rate", "rate", Unit::flop_per_second),
       measure("of_datasheet", "of datasheet", Unit::percent),
       measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
       with_digits(measure("clock", "clock", Unit::hertz), 4),
       measure("clock_ratio", "clock over datasheet's"),
       measure("power", "power", Unit::watts),
       measure("temperature", "heat", Unit::celsius),
       measure("flop_per_joule", "energy", Unit::flop_per_joule),
       measure("slowdown_reasons", "held down by"),
       measure("algorithm", "algorithm"),
       measure("library", "library")},
      {},
      {"Clock: median of cycles counted on the GPU. Power: energy over time in windows of 2 s "
       "and more, else the median reading."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "clock_ratio" || column.id == "algorithm" ||
                    column.id == "library" || column.id == "rate" || column.id == "temperature";
  }
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      for (const auto* gemm : {&format.steady, &format.burst, &format.best_shape}) {
        add_conditions(gpu, format, *gemm, table);
      }
    }
    const std::string bases = basis_note(gpu);
    if (!bases.empty() && table.notes.size() == 1) {
      table.notes.push_back("Peaks: " + bases + ".");
    }
  }
  return table;
}

Table gpu_waterfall_table(const Gpus& gpus) {
  Table table{
      "gpu_waterfall",
      "Loss waterfall: from the datasheet to the steady rate",
      {gpu_column(),
       parameter("precision", "format"),
       parameter("step", "step"),
       measure("change", "change", Unit::flop_per_second),
       with_digits(measure("rate_after", "leaves", Unit::flop_per_second), 4),
       measure("evidence", "because")},
      {},
      {"The changes add up from the datasheet's peak to the measured rate. What no figure of "
       "this run explains is called unexplained."}};
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (!format.waterfall) {
        continue;
      }
      const auto& waterfall = *format.waterfall;
      const bool detail = format.precision != "bf16" && &format != &gpu.formats.front();
      FlopPerSecond rate = waterfall.spec;
      table.rows.push_back(
          {{gpu_cell(gpu), format_of(format), "datasheet", Cell{}, number(rate), waterfall.basis},
           detail});
      for (const auto& step : waterfall.steps) {
        rate += step.change.value_or(FlopPerSecond(0.0));
        table.rows.push_back({{gpu_cell(gpu),
                               format_of(format),
                               step.name,
                               cell_or_absent(step.change),
                               step.change ? Cell{number(rate)} : Cell{},
                               step.evidence},
                              detail});
      }
    }
  }
  return table;
}

Table gpu_placement_table(const Gpus& gpus) {
  Table table{
      "gpu_placements",
      "Products under the measured roof",
      {gpu_column(),
       parameter("layer", "product"),
       parameter("precision", "format"),
       parameter("shape", "shape"),
       measure("intensity", "intensity", Unit::flop_per_byte),
       measure("rate", "rate", Unit::flop_per_second),
       measure("roof", "roof", Unit::flop_per_second),
       measure("fraction", "of roof", Unit::percent),
       measure("of_datasheet", "of datasheet", Unit::percent),
       measure("bound", "bound")},
      {},
      {"Roof: the highest measured rate of the format, or the memory's rate over as many "
       "bytes as the operands times the intensity. Bound: neither means below 80 % of it."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "roof";
  }
  for (const GpuResult& gpu : gpus) {
    for (const auto& placement : gpu.placements) {
      const auto& gemm = placement.gemm;
      table.rows.push_back({{gpu_cell(gpu),
                             placement.name.empty() ? gemm.family : placement.name,
                             gemm.precision,
                             shape_text({gemm.m, gemm.n, gemm.k, gemm.batch}),
                             number(gemm.intensity),
                             number(gemm.rate),
                             number(gemm.roof),
                             number(gemm.fraction),
                             cell_or_absent(placement.of_datasheet),
                             std::string(bound_name(gemm.bound))}});
    }
  }
  return table;
}

Table gpu_ridge_table(const Gpus& gpus) {
  Table table{"gpu_ridge_batches",
              "Tokens at the ridge: with fewer, memory is the bound",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("layer", "products"),
               measure("ridge", "ridge", Unit::flop_per_byte),
               measure("tokens", "tokens")},
              {},
              {"Ridge: highest measured rate of the format over the memory's read rate. n/a: the "
               "products stay below it at any number of tokens."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& batch : gpu.ridge_batches) {
      table.rows.push_back({{gpu_cell(gpu),
                             batch.precision,
                             batch.layer,
                             number(batch.ridge),
                             cell_or_absent(batch.tokens)}});
    }
  }
  return table;
}

Table gpu_contention_table(const Gpus& gpus) {
  Table table{"gpu_contention",
              "A product beside a collective that holds multiprocessors",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("multiprocessors", "left to the product", Unit::count),
               measure("rate", "rate", Unit::flop_per_second),
               measure("of_all", "of the rate with all", Unit::percent),
               measure("of_multiprocessors", "multiprocessors left", Unit::percent)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.contention) {
      table.rows.push_back({{gpu_cell(gpu),
                             point.precision,
                             count_cell(point.multiprocessors),
                             number(point.rate),
                             number(point.of_all),
                             number(point.of_multiprocessors)}});
    }
  }
  return table;
}

namespace {
std::string peak_note(const GpuResult& gpu) {
  std::string note;
  if (!gpu.identity.datasheet) {
    note = "No datasheet of this GPU is known: give its dense bf16 peak with --peak.";
  }
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) {
      continue;
    }
    const auto& against = *format.steady->against;
    note = fmt::format(
        "Steady: products gap-free at a settled clock; best shape: with pauses. Shares are of "
        "steady: of the {} ({}{}) and of what the clock allowed.",
        against.basis == "--peak" ? "peak given" : "dense datasheet peak",
        format.precision + " " + format_quantity(number(against.peak), Unit::flop_per_second, 4),
        against.clock_hz ? " at " + format_quantity(number(*against.clock_hz), Unit::hertz, 4)
                         : "");
    if (format.precision == "bf16") {
      break;
    }
  }
  return note;
}
}  // namespace

Table summary_products(const GpuResult& gpu) {
  Table table{"gpu_products",
              "",
              {parameter("precision", fmt::format("GPU {}", gpu.identity.ordinal)),
               measure("steady", "steady", Unit::flop_per_second),
               measure("best", "best shape", Unit::flop_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("at_clock", "at its clock", Unit::percent),
               measure("clock", "clock", Unit::hertz),
               measure("power", "power", Unit::watts),
               measure("energy", "energy", Unit::flop_per_joule)},
              {},
              {}};
  table.columns[5].digits = 4;
  for (const GpuFormat& format : gpu.formats) {
    const auto& steady = format.steady;
    const auto& best = format.best_shape;
    const bool against = steady && steady->against;
    table.rows.push_back({{model::format_text(format.precision, format.fast_accumulation),
                           steady ? Cell{number(steady->rate)} : Cell{},
                           best ? Cell{number(best->rate)} : Cell{},
                           against ? Cell{number(steady->against->fraction)} : Cell{},
                           against ? cell_or_absent(steady->against->fraction_at_clock) : Cell{},
                           steady ? cell_or_absent(steady->conditions.clock_hz) : Cell{},
                           steady ? cell_or_absent(steady->conditions.power_w) : Cell{},
                           steady ? cell_or_absent(steady->flop_per_joule) : Cell{}}});
  }
  const std::string note = peak_note(gpu);
  if (!note.empty() && !table.rows.empty()) {
    table.notes.push_back(note);
  }
  return table;
}

Table summary_own_products(const GpuResult& gpu) {
  Table table{"gpu_own_products",
              "",
              {parameter("layer", fmt::format("GPU {} own", gpu.identity.ordinal)),
               parameter("precision", "format"),
               parameter("shape", "shape"),
               measure("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second),
               measure("fraction", "of its roof", Unit::percent),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("bound", "bound")},
              {},
              {}};
  for (const auto& placement : gpu.placements) {
    if (placement.name.empty()) {
      continue;
    }
    const auto& gemm = placement.gemm;
    table.rows.push_back({{placement.name,
                           gemm.precision,
                           fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k),
                           number(gemm.intensity),
                           number(gemm.rate),
                           number(gemm.fraction),
                           cell_or_absent(placement.of_datasheet),
                           std::string(bound_name(gemm.bound))}});
  }
  return table;
}

namespace {
Json conditions(const model::GpuConditions& value) {
  Json reasons = Json::object();
  for (const auto& [reason, share] : value.slowdown_reasons) {
    reasons[reason] = json_value(share);
  }
  return {{"clock_hz", json_value(value.clock_hz)},
          {"power_w", json_value(value.power_w)},
          {"power_from_energy", value.power_from_energy},
          {"temperature_c", json_value(value.temperature_c)},
          {"slowdown_reasons", reasons}};
}

Json against(const std::optional<model::AgainstPeak>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"peak_flop_per_s", json_value(value->peak)},
          {"basis", value->basis},
          {"peak_clock_hz", json_value(value->clock_hz)},
          {"fraction", json_value(value->fraction)},
          {"clock_ratio", json_value(value->clock_ratio)},
          {"fraction_at_clock", json_value(value->fraction_at_clock)}};
}

Json identity(const model::GpuIdentity& value) {
  const auto whole = [](const std::optional<int>& number) {
    return number ? Json(*number) : Json(nullptr);
  };
  Json sheet = nullptr;
  if (value.datasheet) {
    sheet = {{"id", value.datasheet->id},
             {"name", value.datasheet->name},
             {"source", value.datasheet->source},
             {"date", value.datasheet->date}};
  }
  return {{"ordinal", value.ordinal},
          {"name", value.name},
          {"uuid", json_note(value.uuid)},
          {"pci_device_id", whole(value.pci_device_id)},
          {"multiprocessors", whole(value.multiprocessors)},
          {"memory_bytes", json_value(value.memory)},
          {"l2_bytes", json_value(value.l2_cache)},
          {"maximum_clock_hz", json_value(value.maximum_clock_hz)},
          {"power_limit_w", json_value(value.power_limit_w)},
          {"power_limit_default_w", json_value(value.default_power_limit_w)},
          {"pcie_bytes_per_s", json_value(value.pcie_bandwidth)},
          {"mig", value.mig},
          {"datasheet", sheet}};
}

Json shape(const model::GemmShape& value) {
  return {{"m", value.m}, {"n", value.n}, {"k", value.k}, {"batch", value.batch}};
}

Json product(const std::optional<model::GpuGemm>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"pass", value->pass},
          {"regime", json_note(value->regime)},
          {"shape", shape(value->shape)},
          {"library", value->library},
          {"algorithm", value->algorithm},
          {"heuristic_rank", value->heuristic_rank},
          {"workspace_bytes", json_value(value->workspace)},
          {"rate_flop_per_s", json_value(value->rate)},
          {"conditions", conditions(value->conditions)},
          {"against_peak", against(value->against)},
          {"flop_per_joule", json_value(value->flop_per_joule)}};
}

Json waterfall(const std::optional<model::LossWaterfall>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"spec_flop_per_s", json_value(value->spec)},
          {"basis", value->basis},
          {"steps",
           json_array(value->steps,
                      [](const model::WaterfallStep& step) -> Json {
                        return {{"name", step.name},
                                {"factor", json_value(step.factor)},
                                {"change_flop_per_s", json_value(step.change)},
                                {"evidence", step.evidence}};
                      })},
          {"measured_flop_per_s", json_value(value->measured)}};
}

Json format(const model::GpuFormat& value) {
  return {{"precision", value.precision},
          {"fast_accumulation", value.fast_accumulation},
          {"steady", product(value.steady)},
          {"burst", product(value.burst)},
          {"best_shape", product(value.best_shape)},
          {"tuning_headroom", json_value(value.tuning_headroom)},
          {"tuned_shape", value.tuned_shape ? shape(*value.tuned_shape) : Json(nullptr)},
          {"waterfall", waterfall(value.waterfall)}};
}

Json ceiling(const model::GpuCeiling& value) {
  return {{"unit", value.ceiling.isa},
          {"precision", value.ceiling.precision},
          {"rate_flop_per_s", json_value(value.ceiling.wall_rate)},
          {"conditions", conditions(value.conditions)},
          {"against_peak", against(value.against)}};
}

Json memory_level(const model::GpuMemoryLevel& value) {
  return {{"label", value.level.label},
          {"scope", value.scope},
          {"kernel", value.level.kernel},
          {"smallest_bytes", json_value(value.level.smallest)},
          {"largest_bytes", json_value(value.level.largest)},
          {"rate_bytes_per_s", json_value(value.level.rate)},
          {"of_datasheet", json_value(value.of_datasheet)},
          {"variant", json_note(value.variant)}};
}

Json latency_level(const model::GpuLatencyLevel& value) {
  return {{"label", value.level.label},
          {"smallest_bytes", json_value(value.level.smallest)},
          {"largest_bytes", json_value(value.level.largest)},
          {"latency_s", json_value(value.level.latency)},
          {"cycles", json_value(value.cycles)}};
}

Json placement(const model::GpuPlacement& value) {
  return {{"name", json_note(value.name)},
          {"product", json_placed_gemm(value.gemm)},
          {"of_datasheet", json_value(value.of_datasheet)}};
}

Json ridge_batch(const model::RidgeBatch& value) {
  return {{"precision", value.precision},
          {"layer", value.layer},
          {"ridge_flop_per_byte", json_value(value.ridge)},
          {"tokens", json_value(value.tokens)}};
}

Json transfer(const model::GpuTransfer& value) {
  return {
      {"source", value.source},
      {"target", value.target},
      {"engine", value.engine},
      {"both_directions", value.both_directions},
      {"all_gpus_at_once", value.together},
      {"plateau_bytes_per_s", json_value(value.plateau)},
      {"alpha_s", json_value(value.alpha)},
      {"beta_s_per_byte", json_value(value.beta)},
      {"half_size_bytes", json_value(value.half_size)},
      {"link", json_note(value.link)},
      {"of_link", json_value(value.of_link)},
      {"points", json_array(value.points, [](const model::TransferPoint& point) -> Json {
         return {{"bytes", json_value(point.size)}, {"rate_bytes_per_s", json_value(point.rate)}};
       })}};
}

Json contention(const model::ContentionPoint& value) {
  return {{"precision", value.precision},
          {"multiprocessors", value.multiprocessors},
          {"rate_flop_per_s", json_value(value.rate)},
          {"of_all", json_value(value.of_all)}};
}

Json cost(const std::optional<model::GpuCost>& value) {
  if (!value) {
    return nullptr;
  }
  return {{"precision", json_note(value->precision)},
          {"usd_per_exaflop", json_value(value->per_exaflop)},
          {"usd_per_terabyte", json_value(value->per_terabyte)}};
}
}  // namespace

Json json_gpu(const model::GpuResult& gpu) {
  return {{"identity", identity(gpu.identity)},
          {"formats", json_array(gpu.formats, format)},
          {"ceilings", json_array(gpu.ceilings, ceiling)},
          {"memory_levels", json_array(gpu.memory_levels, memory_level)},
          {"latency_levels", json_array(gpu.latency_levels, latency_level)},
          {"placements", json_array(gpu.placements, placement)},
          {"ridge_batches", json_array(gpu.ridge_batches, ridge_batch)},
          {"transfers", json_array(gpu.transfers, transfer)},
          {"launches",
           json_array(gpu.launches,
                      [](const model::GpuLaunch& launch) -> Json {
                        return {{"kind", launch.kind}, {"time_s", json_value(launch.time)}};
                      })},
          {"contention", json_array(gpu.contention, contention)},
          {"cost", cost(gpu.cost)},
          {"roofline", json_roofline(gpu.roofline)},
          {"warnings", gpu.warnings}};
}

Json json_gpus_together(const model::GpusTogether& together) {
  return {{"precision", together.precision},
          {"spread", json_value(together.spread)},
          {"slowest", together.slowest},
          {"gpus", json_array(together.paces, [](const model::GpuPace& pace) -> Json {
             return {{"ordinal", pace.ordinal},
                     {"together_flop_per_s", json_value(pace.together)},
                     {"alone_flop_per_s", json_value(pace.alone)},
                     {"of_alone", json_value(pace.of_alone)},
                     {"of_others", json_value(pace.of_others)},
                     {"conditions", conditions(pace.conditions)},
                     {"slow", pace.slow},
                     {"cause", json_note(pace.cause)}};
           })}};
}
}  // namespace scaleworth::report
