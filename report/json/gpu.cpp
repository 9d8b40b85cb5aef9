// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"

namespace scaleworth::report {
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
