// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"
#include "report/names.h"

namespace scaleworth::report {
namespace {

Json ceiling(const model::ComputeCeiling& value) {
  return {{"isa", value.isa},
          {"precision", value.precision},
          {"workers", value.workers},
          {"wall_rate_flop_per_s", json_value(value.wall_rate)},
          {"cpu_rate_flop_per_s", json_value(value.cpu_rate)},
          {"cpu_share", json_value(value.cpu_share)},
          {"contended", value.contended}};
}

Json memory_point(const model::MemoryPoint& value) {
  return {{"kernel", value.kernel},
          {"nontemporal", value.nontemporal},
          {"workers", value.workers},
          {"working_set_bytes", json_value(value.working_set)},
          {"rate_bytes_per_s", json_value(value.rate)},
          {"real_rate_bytes_per_s", json_value(value.real_rate)}};
}

Json memory_level(const model::MemoryLevel& value) {
  return {{"label", value.label},
          {"kernel", value.kernel},
          {"workers", value.workers},
          {"smallest_bytes", json_value(value.smallest)},
          {"largest_bytes", json_value(value.largest)},
          {"rate_bytes_per_s", json_value(value.rate)}};
}

Json latency_point(const model::LatencyPoint& value) {
  return {{"working_set_bytes", json_value(value.working_set)},
          {"latency_s", json_value(value.latency)}};
}

Json latency_level(const model::LatencyLevel& value) {
  return {{"label", value.label},
          {"smallest_bytes", json_value(value.smallest)},
          {"largest_bytes", json_value(value.largest)},
          {"latency_s", json_value(value.latency)}};
}

Json intensity_point(const model::IntensityPoint& value) {
  return {{"intensity_flop_per_byte", json_value(value.intensity)},
          {"rate_flop_per_s", json_value(value.rate)}};
}

Json soft_roof(const model::SoftRoof& value) {
  return {{"precision", value.precision},
          {"workers", value.workers},
          {"peak_flop_per_s", json_value(value.peak)},
          {"bandwidth_bytes_per_s", json_value(value.bandwidth)},
          {"sharpness", json_value(value.sharpness)},
          {"sharpness_note", json_note(value.sharpness_note)},
          {"ridge_flop_per_byte", json_value(value.ridge)},
          {"median_residual", json_value(value.median_residual)},
          {"points", json_array(value.points, intensity_point)}};
}

}  // namespace

Json json_placed_gemm(const model::PlacedGemm& value) {
  return {{"family", value.family},
          {"precision", value.precision},
          {"library", value.library},
          {"m", value.m},
          {"n", value.n},
          {"k", value.k},
          {"batch", value.batch},
          {"workers", value.workers},
          {"intensity_flop_per_byte", json_value(value.intensity)},
          {"rate_flop_per_s", json_value(value.rate)},
          {"roof_flop_per_s", json_value(value.roof)},
          {"bandwidth_bytes_per_s", json_value(value.bandwidth)},
          {"fraction", json_value(value.fraction)},
          {"bound", bound_name(value.bound)}};
}

Json json_roofline(const model::RooflineResult& roofline) {
  return {{"ceilings", json_array(roofline.ceilings, ceiling)},
          {"memory_levels", json_array(roofline.memory_levels, memory_level)},
          {"latency_levels", json_array(roofline.latency_levels, latency_level)},
          {"soft_roofs", json_array(roofline.soft_roofs, soft_roof)},
          {"gemms", json_array(roofline.gemms, json_placed_gemm)},
          {"memory", json_array(roofline.memory, memory_point)},
          {"latency", json_array(roofline.latency, latency_point)},
          {"warnings", roofline.warnings}};
}

}  // namespace scaleworth::report
