// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/core/files/fields.h"

#include <tuple>

namespace scaleworth::report {
namespace {
using namespace model;

std::vector<Table> level_tables(const RooflineResult& roofline) {
  return {
      make_table("compute_ceilings",
                 "Compute ceilings (our FMA kernels)",
                 roofline.ceilings,
                 {{parameter("isa", "instructions"), &ComputeCeiling::isa},
                  {parameter("precision", "precision"), &ComputeCeiling::precision},
                  {parameter("workers", "workers", Unit::count), &ComputeCeiling::workers},
                  {measure("wall_rate", "rate", Unit::flop_per_second), &ComputeCeiling::wall_rate},
                  {measure("cpu_rate", "rate per CPU time", Unit::flop_per_second),
                   &ComputeCeiling::cpu_rate},
                  {measure("cpu_share", "CPU share", Unit::percent), &ComputeCeiling::cpu_share},
                  {measure("contended", "contended"), &ComputeCeiling::contended}},
                 {"Rate per CPU time is the ceiling where the host was contended (CPU share below "
                  "98 %: other work took the core). CPU share is a median without interval."}),
      make_table("memory_levels",
                 "Memory levels (plateaus found in the sweep)",
                 roofline.memory_levels,
                 {{parameter("level", "level"), &MemoryLevel::label},
                  {parameter("kernel", "kernel"), &MemoryLevel::kernel},
                  {parameter("workers", "workers", Unit::count), &MemoryLevel::workers},
                  {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
                  {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
                  {measure("rate", "rate", Unit::bytes_per_second), &MemoryLevel::rate}},
                 {"From and to are working sets per worker; the rate counts explicit loads and "
                  "stores of all workers."},
                 below_largest(roofline.memory_levels, &MemoryLevel::workers)),
      make_table("latency_levels",
                 "Memory latency (one dependent load after another)",
                 roofline.latency_levels,
                 {{parameter("level", "level"), &LatencyLevel::label},
                  {parameter("smallest_bytes", "from", Unit::bytes), &LatencyLevel::smallest},
                  {parameter("largest_bytes", "to", Unit::bytes), &LatencyLevel::largest},
                  {measure("latency", "latency", Unit::seconds), &LatencyLevel::latency}})};
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
       "perfectly, 1 not at all. Below the ridge, the peak over the best rate of memory where that "
       "was measured, a kernel is bound by memory. The residual "
       "is a median over the ladder without interval."});
  for (const auto& roof : roofline.soft_roofs) {
    if (!roof.sharpness_note.empty()) {
      table.notes.push_back(roof.precision + ": " + roof.sharpness_note);
    }
  }
  return table;
}

Table gemms(const RooflineResult& roofline) {
  // Products of one family together, small ones first; they are measured in random order.
  std::vector<PlacedGemm> by_shape = roofline.gemms;
  std::ranges::sort(by_shape, {}, [](const PlacedGemm& one) {
    return std::tie(one.family, one.precision, one.workers, one.m, one.n, one.k, one.batch);
  });
  return make_table(
      "gemms",
      "Library matrix products under the measured roof",
      by_shape,
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
      below_largest(roofline.gemms, &PlacedGemm::workers));
}

std::vector<Table> sweep_tables(const RooflineResult& roofline) {
  return {
      make_table(
          "memory_points",
          "Memory sweep, every point",
          roofline.memory,
          {{parameter("kernel", "kernel"), &MemoryPoint::kernel},
           {parameter("nontemporal", "nontemporal"), &MemoryPoint::nontemporal},
           {parameter("workers", "workers", Unit::count), &MemoryPoint::workers},
           {parameter("working_set_bytes", "working set", Unit::bytes), &MemoryPoint::working_set},
           {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate},
           {measure("real_rate", "rate with write-allocate", Unit::bytes_per_second),
            &MemoryPoint::real_rate}}),
      make_table(
          "latency_points",
          "Latency sweep, every point",
          roofline.latency,
          {{parameter("working_set_bytes", "working set", Unit::bytes), &LatencyPoint::working_set},
           {measure("latency", "latency", Unit::seconds), &LatencyPoint::latency}}),
      make_table(
          "intensity_points",
          "Intensity ladder, every point",
          nested(roofline.soft_roofs, &SoftRoof::points),
          {{parameter("precision", "precision"), &SoftRoof::precision},
           {parameter("workers", "workers", Unit::count), &SoftRoof::workers},
           {parameter("intensity", "intensity", Unit::flop_per_byte), &IntensityPoint::intensity},
           {measure("rate", "rate", Unit::flop_per_second), &IntensityPoint::rate}})};
}
}  // namespace

Section roofline_section(const RooflineResult& roofline) {
  std::vector<Table> tables = level_tables(roofline);
  tables.insert(tables.end(), {soft_roofs(roofline), gemms(roofline)});
  for (const Table& table : sweep_tables(roofline)) tables.push_back(all_detail(table));
  return section_of("roofline", "Roofline: what this machine can do", std::move(tables));
}

void put_latency_level(Fields& json, const LatencyLevel& one) {
  FIELDS(json, one.label, one.smallest, one.largest, one.latency);
}

void put_placed_gemm(Fields& json, const PlacedGemm& one) {
  FIELDS(json, one.family, one.precision, one.library, one.m, one.n, one.k, one.batch, one.workers);
  FIELDS(json, one.intensity, one.rate, one.roof, one.bandwidth, one.fraction);
  json("bound", bound_name(one.bound));
}

void put_roofline(Fields& json, const RooflineResult& roofline) {
  json.array("ceilings", roofline.ceilings, [](Fields& of, const ComputeCeiling& one) {
    FIELDS(of, one.isa, one.precision, one.workers, one.wall_rate, one.cpu_rate, one.cpu_share);
    of("contended", one.contended);
  });
  json.array("memory_levels", roofline.memory_levels, [](Fields& of, const MemoryLevel& one) {
    FIELDS(of, one.label, one.kernel, one.workers, one.smallest, one.largest, one.rate);
  });
  json.array("latency_levels", roofline.latency_levels, put_latency_level);
  json.array("soft_roofs", roofline.soft_roofs, [](Fields& of, const SoftRoof& one) {
    FIELDS(of, one.precision, one.workers, one.peak, one.bandwidth, one.sharpness);
    FIELDS(of, or_null(one.sharpness_note), one.ridge, one.median_residual);
    of.array("points", one.points, [](Fields& each, const IntensityPoint& point) {
      FIELDS(each, point.intensity, point.rate);
    });
  });
  json.array("gemms", roofline.gemms, put_placed_gemm);
  json.array("memory", roofline.memory, [](Fields& of, const MemoryPoint& one) {
    FIELDS(of, one.kernel, one.nontemporal, one.workers, one.working_set, one.rate, one.real_rate);
  });
  json.array("latency", roofline.latency, [](Fields& of, const LatencyPoint& one) {
    FIELDS(of, one.working_set, one.latency);
  });
  json("warnings", roofline.warnings);
}
}  // namespace scaleworth::report
