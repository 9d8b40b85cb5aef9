// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/model/gpu.h"

#include <functional>
#include <string>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using model::AgainstPeak;
using model::ContentionPoint;
using model::GpuConditions;
using model::GpuFormat;
using model::GpuGemm;
using model::GpuPlacement;
using model::GpuResult;
using model::PlacedGemm;
using model::RidgeBatch;

std::string format_of(const GpuFormat& format) {
  return model::format_text(format.precision, format.fast_accumulation);
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

/// "power cap 40 %, heat 3 %".
std::string slowdown_text(const GpuGemm& gemm) {
  std::string reasons;
  for (const auto& [reason, share] : gemm.conditions.slowdown_reasons) {
    reasons += (reasons.empty() ? "" : ", ") + reason + " " +
               format_quantity(number(share), Unit::percent);
  }
  return reasons;
}

using FormatGemm = Nested<GpuResult, GpuFormat, GpuGemm>;

/// The steady, burst and best product of each format, as far as they are there.
std::vector<FormatGemm> measured_products(const Gpus& gpus) {
  std::vector<FormatGemm> rows;
  for (const auto& format : nested(gpus, &GpuResult::formats)) {
    const GpuFormat& of = *std::get<1>(format.levels);
    for (const auto* gemm : {&of.steady, &of.burst, &of.best_shape}) {
      if (*gemm) rows.push_back({std::tuple_cat(format.levels, std::tuple(&**gemm))});
    }
  }
  return rows;
}
}  // namespace

Table gpu_format_table(const Gpus& gpus) {
  const auto headroom = [](const GpuFormat& format) {
    return format.tuning_headroom
               ? Cell{transform(*format.tuning_headroom, [](double ratio) { return ratio - 1.0; })}
               : Cell{};
  };
  return make_table(
      "gpu_formats",
      "Library matrix products by number format",
      nested(gpus, &GpuResult::formats),
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), format_of},
       {measure("steady", "steady", Unit::flop_per_second),
        path(&GpuFormat::steady, &GpuGemm::rate)},
       {measure("steady_shape", "shape").as_detail(),
        path(&GpuFormat::steady, &GpuGemm::shape, shape_text)},
       {measure("burst", "burst", Unit::flop_per_second), path(&GpuFormat::burst, &GpuGemm::rate)},
       {measure("best_shape_rate", "best shape's", Unit::flop_per_second),
        path(&GpuFormat::best_shape, &GpuGemm::rate)},
       {measure("best_shape", "best shape"),
        path(&GpuFormat::best_shape, &GpuGemm::shape, shape_text)},
       {measure("tuning_headroom", "tuning gain", Unit::percent), headroom}},
      {"Steady: no gap between products, clock settled. Burst: the first 100 ms after a "
       "pause. Best shape: the fastest that the search found with a reset between products, "
       "comparable with MAMF tables; a maximum, so a little optimistic. Tuning gain: best "
       "algorithm over the library's first proposal."});
}

Table gpu_condition_table(const Gpus& gpus) {
  Table table = make_table(
      "gpu_conditions",
      "Clock, power and share of the datasheet of these products",
      measured_products(gpus),
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), format_of},
       {parameter("pass", "pass"), &GpuGemm::pass},
       {measure("rate", "rate", Unit::flop_per_second).as_detail(), &GpuGemm::rate},
       {measure("of_datasheet", "of datasheet", Unit::percent),
        path(&GpuGemm::against, &AgainstPeak::fraction)},
       {measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
        path(&GpuGemm::against, &AgainstPeak::fraction_at_clock)},
       {measure("clock", "clock", Unit::hertz).with_digits(4),
        path(&GpuGemm::conditions, &GpuConditions::clock_hz)},
       {measure("clock_ratio", "clock over datasheet's").as_detail(),
        path(&GpuGemm::against, &AgainstPeak::clock_ratio)},
       {measure("power", "power", Unit::watts),
        path(&GpuGemm::conditions, &GpuConditions::power_w)},
       {measure("temperature", "heat", Unit::celsius).as_detail(),
        path(&GpuGemm::conditions, &GpuConditions::temperature_c)},
       {measure("flop_per_joule", "energy", Unit::flop_per_joule), &GpuGemm::flop_per_joule},
       {measure("slowdown_reasons", "held down by"), slowdown_text},
       {measure("algorithm", "algorithm").as_detail(), &GpuGemm::algorithm},
       {measure("library", "library").as_detail(), &GpuGemm::library}},
      {"Clock: median of cycles counted on the GPU. Power: energy over time in windows of 2 s "
       "and more, else the median reading."});
  for (const GpuResult& gpu : gpus) {
    const std::string bases = basis_note(gpu);
    if (!bases.empty() && table.notes.size() == 1) {
      table.notes.push_back("Peaks: " + bases + ".");
    }
  }
  return table;
}

namespace {
/// The datasheet's rate or a step from it, and what that leaves.
struct WaterfallRow {
  int gpu = 0;
  std::string format;
  std::string name;
  std::optional<FlopPerSecond> change;
  std::optional<FlopPerSecond> rate;
  std::string evidence;
  bool detail = false;
};

std::vector<WaterfallRow> waterfall_rows(const Gpus& gpus) {
  std::vector<WaterfallRow> rows;
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (!format.waterfall) continue;
      const bool detail = format.precision != "bf16" && &format != &gpu.formats.front();
      FlopPerSecond rate = format.waterfall->spec;
      WaterfallRow row{gpu.identity.ordinal, format_of(format), "datasheet", {}, rate, "", detail};
      row.evidence = format.waterfall->basis;
      rows.push_back(row);
      for (const auto& step : format.waterfall->steps) {
        rate += step.change.value_or(FlopPerSecond(0.0));
        row.name = step.name;
        row.change = step.change;
        row.rate = step.change ? std::optional(rate) : std::nullopt;
        row.evidence = step.evidence;
        rows.push_back(row);
      }
    }
  }
  return rows;
}
}  // namespace

Table gpu_waterfall_table(const Gpus& gpus) {
  return make_table(
      "gpu_waterfall",
      "Loss waterfall: from the datasheet to the steady rate",
      waterfall_rows(gpus),
      {{gpu_column(), &WaterfallRow::gpu},
       {parameter("precision", "format"), &WaterfallRow::format},
       {parameter("step", "step"), &WaterfallRow::name},
       {measure("change", "change", Unit::flop_per_second), &WaterfallRow::change},
       {measure("rate_after", "leaves", Unit::flop_per_second).with_digits(4), &WaterfallRow::rate},
       {measure("evidence", "because"), &WaterfallRow::evidence}},
      {"The changes add up from the datasheet's peak to the measured rate. What no figure of "
       "this run explains is called unexplained."},
      std::mem_fn(&WaterfallRow::detail));
}

namespace {
std::string bound_of(const GpuPlacement& placement) {
  return bound_name(placement.gemm.bound);
}
}  // namespace

Table gpu_placement_table(const Gpus& gpus) {
  const auto of = [](auto member) { return path(&GpuPlacement::gemm, member); };
  const auto name = [](const GpuPlacement& placement) {
    return placement.name.empty() ? placement.gemm.family : placement.name;
  };
  const auto shape = [](const PlacedGemm& gemm) {
    return shape_text({gemm.m, gemm.n, gemm.k, gemm.batch});
  };
  return make_table(
      "gpu_placements",
      "Products under the measured roof",
      nested(gpus, &GpuResult::placements),
      {{gpu_column(), gpu_ordinal},
       {parameter("layer", "product"), name},
       {parameter("precision", "format"), of(&PlacedGemm::precision)},
       {parameter("shape", "shape"), of(shape)},
       {measure("intensity", "intensity", Unit::flop_per_byte), of(&PlacedGemm::intensity)},
       {measure("rate", "rate", Unit::flop_per_second), of(&PlacedGemm::rate)},
       {measure("roof", "roof", Unit::flop_per_second).as_detail(), of(&PlacedGemm::roof)},
       {measure("fraction", "of roof", Unit::percent), of(&PlacedGemm::fraction)},
       {measure("of_datasheet", "of datasheet", Unit::percent), &GpuPlacement::of_datasheet},
       {measure("bound", "bound"), bound_of}},
      {"Roof: the highest measured rate of the format, or the memory's rate over as many "
       "bytes as the operands times the intensity. Bound: neither means below 80 % of it."});
}

Table gpu_ridge_table(const Gpus& gpus) {
  return make_table(
      "gpu_ridge_batches",
      "Tokens at the ridge: with fewer, memory is the bound",
      nested(gpus, &GpuResult::ridge_batches),
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), &RidgeBatch::precision},
       {parameter("layer", "products"), &RidgeBatch::layer},
       {measure("ridge", "ridge", Unit::flop_per_byte), &RidgeBatch::ridge},
       {measure("tokens", "tokens"), &RidgeBatch::tokens}},
      {"Ridge: highest measured rate of the format over the memory's read rate. n/a: the "
       "products stay below it at any number of tokens."});
}

Table gpu_contention_table(const Gpus& gpus) {
  return make_table(
      "gpu_contention",
      "A product beside a collective that holds multiprocessors",
      nested(gpus, &GpuResult::contention),
      {{gpu_column(), gpu_ordinal},
       {parameter("precision", "format"), &ContentionPoint::precision},
       {parameter("multiprocessors", "left to the product", Unit::count),
        &ContentionPoint::multiprocessors},
       {measure("rate", "rate", Unit::flop_per_second), &ContentionPoint::rate},
       {measure("of_all", "of the rate with all", Unit::percent), &ContentionPoint::of_all},
       {measure("of_multiprocessors", "multiprocessors left", Unit::percent),
        &ContentionPoint::of_multiprocessors}});
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
  const auto steady = [](auto... members) { return path(&GpuFormat::steady, members...); };
  Table table = make_table(
      "gpu_products",
      "",
      gpu.formats,
      {{parameter("precision", fmt::format("GPU {}", gpu.identity.ordinal)), format_of},
       {measure("steady", "steady", Unit::flop_per_second), steady(&GpuGemm::rate)},
       {measure("best", "best shape", Unit::flop_per_second),
        path(&GpuFormat::best_shape, &GpuGemm::rate)},
       {measure("of_datasheet", "of datasheet", Unit::percent),
        steady(&GpuGemm::against, &AgainstPeak::fraction)},
       {measure("at_clock", "at its clock", Unit::percent),
        steady(&GpuGemm::against, &AgainstPeak::fraction_at_clock)},
       {measure("clock", "clock", Unit::hertz).with_digits(4),
        steady(&GpuGemm::conditions, &GpuConditions::clock_hz)},
       {measure("power", "power", Unit::watts),
        steady(&GpuGemm::conditions, &GpuConditions::power_w)},
       {measure("energy", "energy", Unit::flop_per_joule), steady(&GpuGemm::flop_per_joule)}});
  const std::string note = peak_note(gpu);
  if (!note.empty() && !table.rows.empty()) {
    table.notes.push_back(note);
  }
  return table;
}

Table summary_own_products(const GpuResult& gpu) {
  const auto of = [](auto member) { return path(&GpuPlacement::gemm, member); };
  const auto shape = [](const PlacedGemm& gemm) {
    return fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k);
  };
  std::vector<GpuPlacement> own = gpu.placements;
  std::erase_if(own, [](const GpuPlacement& placement) { return placement.name.empty(); });
  return make_table(
      "gpu_own_products",
      "",
      own,
      {{parameter("layer", fmt::format("GPU {} own", gpu.identity.ordinal)), &GpuPlacement::name},
       {parameter("precision", "format"), of(&PlacedGemm::precision)},
       {parameter("shape", "shape"), of(shape)},
       {measure("intensity", "intensity", Unit::flop_per_byte), of(&PlacedGemm::intensity)},
       {measure("rate", "rate", Unit::flop_per_second), of(&PlacedGemm::rate)},
       {measure("fraction", "of its roof", Unit::percent), of(&PlacedGemm::fraction)},
       {measure("of_datasheet", "of datasheet", Unit::percent), &GpuPlacement::of_datasheet},
       {measure("bound", "bound"), bound_of}});
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
