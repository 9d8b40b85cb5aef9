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
                 {{parameter("level", "level"), &MemoryLevel::name},
                  {parameter("kernel", "kernel"), &MemoryLevel::stream},
                  {parameter("workers", "workers", Unit::count), &MemoryLevel::workers},
                  {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
                  {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
                  {measure("rate", "rate", Unit::bytes_per_second), &MemoryLevel::value}},
                 {"From and to are working sets per worker; the rate counts explicit loads and "
                  "stores of all workers."},
                 below_largest(roofline.memory_levels, &MemoryLevel::workers)),
      make_table("latency_levels",
                 "Memory latency (one dependent load after another)",
                 roofline.latency_levels,
                 {{parameter("level", "level"), &LatencyLevel::name},
                  {parameter("smallest_bytes", "from", Unit::bytes), &LatencyLevel::smallest},
                  {parameter("largest_bytes", "to", Unit::bytes), &LatencyLevel::largest},
                  {measure("latency", "latency", Unit::seconds), &LatencyLevel::value}})};
}

Table soft_roofs(const RooflineResult& roofline) {
  Table table = make_table(
      "soft_roofs",
      "Soft roof fitted to the intensity ladder",
      roofline.soft_roofs,
      {{parameter("precision", "precision"), &SoftRoof::format},
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
      table.notes.push_back(word_of(roof.format) + ": " + roof.sharpness_note);
    }
  }
  return table;
}

Table gemms(const RooflineResult& roofline) {
  // Products of one family together, small ones first; they are measured in random order.
  std::vector<PlacedGemm> by_shape = roofline.gemms;
  std::ranges::sort(by_shape, {}, [](const PlacedGemm& one) {
    return std::tuple(family_of(one), word_of(one.format), one.workers, one.shape);
  });
  const auto of = [](auto member) { return path(&PlacedGemm::shape, member); };
  return make_table(
      "gemms",
      "Library matrix products under the measured roof",
      by_shape,
      {{parameter("family", "family"), &PlacedGemm::family},
       {parameter("precision", "precision"), &PlacedGemm::format},
       {parameter("m", "m", Unit::count), of(&GemmShape::m)},
       {parameter("n", "n", Unit::count), of(&GemmShape::n)},
       {parameter("k", "k", Unit::count), of(&GemmShape::k)},
       {parameter("batch", "batch", Unit::count), of(&GemmShape::batch)},
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
  using LadderPoint = decltype(SoftRoof::points)::value_type;
  return {
      make_table(
          "memory_points",
          "Memory sweep, every point",
          roofline.memory,
          {{parameter("kernel", "kernel"), path(&MemoryPoint::stream, &StreamKernel::kernel)},
           {parameter("nontemporal", "nontemporal"),
            path(&MemoryPoint::stream, &StreamKernel::nontemporal)},
           {parameter("workers", "workers", Unit::count), &MemoryPoint::workers},
           {parameter("working_set_bytes", "working set", Unit::bytes), &MemoryPoint::working_set},
           {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate},
           {measure("real_rate", "rate with write-allocate", Unit::bytes_per_second),
            &MemoryPoint::real_rate}}),
      make_table("latency_points",
                 "Latency sweep, every point",
                 roofline.latency,
                 {{parameter("working_set_bytes", "working set", Unit::bytes), &LatencyPoint::at},
                  {measure("latency", "latency", Unit::seconds), &LatencyPoint::value}}),
      make_table("intensity_points",
                 "Intensity ladder, every point",
                 nested(roofline.soft_roofs, &SoftRoof::points),
                 {{parameter("precision", "precision"), &SoftRoof::format},
                  {parameter("workers", "workers", Unit::count), &SoftRoof::workers},
                  {parameter("intensity", "intensity", Unit::flop_per_byte), &LadderPoint::at},
                  {measure("rate", "rate", Unit::flop_per_second), &LadderPoint::value}})};
}
}  // namespace

std::string family_of(const PlacedGemm& gemm) {
  return gemm.family ? word_of(*gemm.family) : "";
}

Section roofline_section(const RooflineResult& roofline) {
  std::vector<Table> tables = level_tables(roofline);
  tables.insert(tables.end(), {soft_roofs(roofline), gemms(roofline)});
  for (const Table& table : sweep_tables(roofline)) tables.push_back(all_detail(table));
  return section_of("roofline", "Roofline: what this machine can do", std::move(tables));
}

void put_latency_level(Fields& json, const LatencyLevel& one) {
  json("label", word_of(one.name));
  FIELDS(json, one.smallest, one.largest);
  json("latency_s", one.value);
}

void put_placed_gemm(Fields& json, const PlacedGemm& one) {
  json("family", family_of(one));
  json("precision", word_of(one.format));
  json("library", one.library);
  put_shape(json, one.shape);
  json("workers", one.workers);
  FIELDS(json, one.intensity, one.rate, one.roof, one.bandwidth, one.fraction);
  json("bound", bound_name(one.bound));
}

void put_roofline(Fields& json, const RooflineResult& roofline) {
  json.array("ceilings", roofline.ceilings, [](Fields& of, const ComputeCeiling& one) {
    of("isa", word_of(one.isa));
    FIELDS(of, one.precision, one.workers, one.wall_rate, one.cpu_rate, one.cpu_share);
    of("contended", one.contended);
  });
  json.array("memory_levels", roofline.memory_levels, [](Fields& of, const MemoryLevel& one) {
    of("label", word_of(one.name));
    of("kernel", word_of(one.stream));
    FIELDS(of, one.workers, one.smallest, one.largest);
    of("rate_bytes_per_s", one.value);
  });
  json.array("latency_levels", roofline.latency_levels, put_latency_level);
  json.array("soft_roofs", roofline.soft_roofs, [](Fields& of, const SoftRoof& one) {
    of("precision", word_of(one.format));
    FIELDS(of, one.workers, one.peak, one.bandwidth, one.sharpness);
    FIELDS(of, or_null(one.sharpness_note), one.ridge, one.median_residual);
    of.array("points", one.points, [](Fields& each, const auto& point) {
      each("intensity_flop_per_byte", point.at);
      each("rate_flop_per_s", point.value);
    });
  });
  json.array("gemms", roofline.gemms, put_placed_gemm);
  json.array("memory", roofline.memory, [](Fields& of, const MemoryPoint& one) {
    FIELDS(of,
           one.stream.kernel,
           one.stream.nontemporal,
           one.workers,
           one.working_set,
           one.rate,
           one.real_rate);
  });
  json.array("latency", roofline.latency, [](Fields& of, const LatencyPoint& one) {
    of("working_set_bytes", one.at);
    of("latency_s", one.value);
  });
  json("warnings", roofline.warnings);
}
}  // namespace scaleworth::report
