// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"

#include <algorithm>
#include <tuple>

namespace scaleworth::report {
namespace {
using model::ComputeCeiling;
using model::IntensityPoint;
using model::LatencyLevel;
using model::LatencyPoint;
using model::MemoryLevel;
using model::MemoryPoint;
using model::PlacedGemm;
using model::RooflineResult;
using model::SoftRoof;

/// The short formats show what all workers together reach.
template <class T>
auto with_fewer_workers(const std::vector<T>& results) {
  int most = 0;
  for (const T& result : results) most = std::max(most, result.workers);
  return [most](const T& result) { return result.workers < most; };
}

Table ceilings(const RooflineResult& roofline) {
  return make_table(
      "compute_ceilings",
      "Compute ceilings (our FMA kernels)",
      roofline.ceilings,
      {{parameter("isa", "instructions"), &ComputeCeiling::isa},
       {parameter("precision", "precision"), &ComputeCeiling::precision},
       {parameter("workers", "workers", Unit::count), &ComputeCeiling::workers},
       {measure("wall_rate", "rate", Unit::flop_per_second), &ComputeCeiling::wall_rate},
       {measure("cpu_rate", "rate per CPU time", Unit::flop_per_second), &ComputeCeiling::cpu_rate},
       {measure("cpu_share", "CPU share", Unit::percent), &ComputeCeiling::cpu_share},
       {measure("contended", "contended"), &ComputeCeiling::contended}},
      {"Rate per CPU time is the ceiling where the host was contended (CPU share below "
       "98 %: other work took the core). CPU share is a median without interval."});
}

Table memory_levels(const RooflineResult& roofline) {
  return make_table(
      "memory_levels",
      "Memory levels (plateaus found in the sweep)",
      roofline.memory_levels,
      {{parameter("level", "level"), &MemoryLevel::label},
       {parameter("kernel", "kernel"), &MemoryLevel::kernel},
       {parameter("workers", "workers", Unit::count), &MemoryLevel::workers},
       {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
       {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
       {measure("rate", "rate", Unit::bytes_per_second), &MemoryLevel::rate}},
      {"From and to are working sets per worker; the rate counts explicit loads and stores "
       "of all workers."},
      with_fewer_workers(roofline.memory_levels));
}

Table latency_levels(const RooflineResult& roofline) {
  return make_table("latency_levels",
                    "Memory latency (one dependent load after another)",
                    roofline.latency_levels,
                    {{parameter("level", "level"), &LatencyLevel::label},
                     {parameter("smallest_bytes", "from", Unit::bytes), &LatencyLevel::smallest},
                     {parameter("largest_bytes", "to", Unit::bytes), &LatencyLevel::largest},
                     {measure("latency", "latency", Unit::seconds), &LatencyLevel::latency}});
}

Table soft_roofs(const RooflineResult& roofline) {
  Table table = make_table(
      "soft_roofs",
      "Soft roof fitted to the intensity ladder",
      roofline.soft_roofs,
      {{parameter("precision", "precision"), &SoftRoof::precision},
       {parameter("workers", "workers", Unit::count), &SoftRoof::workers},
       {measure("peak", "peak", Unit::flop_per_second), &SoftRoof::peak},
       {measure("bandwidth", "bandwidth", Unit::bytes_per_second), &SoftRoof::bandwidth},
       {measure("ridge", "ridge", Unit::flop_per_byte), &SoftRoof::ridge},
       {measure("sharpness", "sharpness p"), &SoftRoof::sharpness},
       {measure("median_residual", "residual", Unit::percent), &SoftRoof::median_residual}},
      {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and compute "
       "perfectly, 1 not at all. Below the ridge a kernel is bound by memory. The residual "
       "is a median over the ladder without interval."});
  for (const auto& roof : roofline.soft_roofs) {
    if (!roof.sharpness_note.empty()) {
      table.notes.push_back(roof.precision + ": " + roof.sharpness_note);
    }
  }
  return table;
}

/// Products of one family together, small ones first; they are measured in random order.
std::vector<model::PlacedGemm> by_shape(std::vector<model::PlacedGemm> gemms) {
  std::sort(gemms.begin(), gemms.end(), [](const auto& a, const auto& b) {
    return std::tie(a.family, a.precision, a.workers, a.m, a.n, a.k, a.batch) <
           std::tie(b.family, b.precision, b.workers, b.m, b.n, b.k, b.batch);
  });
  return gemms;
}

Table gemms(const RooflineResult& roofline) {
  return make_table(
      "gemms",
      "Library matrix products under the measured roof",
      by_shape(roofline.gemms),
      {{parameter("family", "family"), &PlacedGemm::family},
       {parameter("precision", "precision"), &PlacedGemm::precision},
       {parameter("m", "m", Unit::count), &PlacedGemm::m},
       {parameter("n", "n", Unit::count), &PlacedGemm::n},
       {parameter("k", "k", Unit::count), &PlacedGemm::k},
       {parameter("batch", "batch", Unit::count), &PlacedGemm::batch},
       {parameter("workers", "workers", Unit::count).as_detail(), &PlacedGemm::workers},
       {parameter("library", "library").as_detail(), &PlacedGemm::library},
       {measure("intensity", "intensity", Unit::flop_per_byte), &PlacedGemm::intensity},
       {measure("rate", "rate", Unit::flop_per_second), &PlacedGemm::rate},
       {measure("roof", "roof", Unit::flop_per_second), &PlacedGemm::roof},
       {measure("fraction", "of roof", Unit::percent), &PlacedGemm::fraction},
       {measure("bound", "bound"), [](const PlacedGemm& gemm) { return bound_name(gemm.bound); }}},
      {"Intensity counts each matrix moved once. Bound: neither means below 80 % of its "
       "roof. Intensity is exact; roof and fraction take the ceilings' central values."},
      with_fewer_workers(roofline.gemms));
}

Table memory_points(const RooflineResult& roofline) {
  return all_detail(make_table(
      "memory_points",
      "Memory sweep, every point",
      roofline.memory,
      {{parameter("kernel", "kernel"), &MemoryPoint::kernel},
       {parameter("nontemporal", "nontemporal"), &MemoryPoint::nontemporal},
       {parameter("workers", "workers", Unit::count), &MemoryPoint::workers},
       {parameter("working_set_bytes", "working set", Unit::bytes), &MemoryPoint::working_set},
       {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate},
       {measure("real_rate", "rate with write-allocate", Unit::bytes_per_second),
        &MemoryPoint::real_rate}}));
}

Table latency_points(const RooflineResult& roofline) {
  return all_detail(make_table(
      "latency_points",
      "Latency sweep, every point",
      roofline.latency,
      {{parameter("working_set_bytes", "working set", Unit::bytes), &LatencyPoint::working_set},
       {measure("latency", "latency", Unit::seconds), &LatencyPoint::latency}}));
}

Table intensity_points(const RooflineResult& roofline) {
  return all_detail(make_table(
      "intensity_points",
      "Intensity ladder, every point",
      nested(roofline.soft_roofs, &SoftRoof::points),
      {{parameter("precision", "precision"), &SoftRoof::precision},
       {parameter("workers", "workers", Unit::count), &SoftRoof::workers},
       {parameter("intensity", "intensity", Unit::flop_per_byte), &IntensityPoint::intensity},
       {measure("rate", "rate", Unit::flop_per_second), &IntensityPoint::rate}}));
}
}  // namespace

Section roofline_section(const RooflineResult& roofline) {
  Section section{"roofline", "Roofline: what this machine can do", {}, {}, {}};
  section.tables = {ceilings(roofline),
                    memory_levels(roofline),
                    latency_levels(roofline),
                    soft_roofs(roofline),
                    gemms(roofline),
                    memory_points(roofline),
                    latency_points(roofline),
                    intensity_points(roofline)};
  drop_empty_tables(section);
  return section;
}

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
