// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/run/run_report.h"

#include <tuple>

namespace scaleworth::report {
namespace {
using namespace model;

using LadderPoint = MeasuredAt<FlopPerByte, FlopPerSecond>;

// The fields of each result, for its table and its JSON.

std::vector<FieldOf<ComputeCeiling>> ceiling_fields() {
  return {
      {parameter("isa", "instructions"), &ComputeCeiling::isa},
      {parameter("precision", "precision"), &ComputeCeiling::precision},
      {parameter("workers", "workers", Unit::count), &ComputeCeiling::workers},
      {measure("wall_rate", "rate", Unit::flop_per_second), &ComputeCeiling::wall_rate},
      {measure("cpu_rate", "rate per CPU time", Unit::flop_per_second), &ComputeCeiling::cpu_rate},
      {measure("cpu_share", "CPU share", Unit::percent), &ComputeCeiling::cpu_share},
      {measure("contended", "contended"), &ComputeCeiling::contended}};
}

std::vector<FieldOf<ComputeCeiling>> gpu_ceiling_fields() {
  using OfTable = ColumnOf<ComputeCeiling>;
  return {{parameter("isa", "unit"), &ComputeCeiling::isa, "unit"},
          {parameter("precision", "format"), &ComputeCeiling::precision},
          {measure("rate", "rate", Unit::flop_per_second), &ComputeCeiling::wall_rate},
          OfTable(measure("of_datasheet", "of datasheet", Unit::percent),
                  path(&ComputeCeiling::against, &AgainstPeak::fraction)),
          OfTable(measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
                  path(&ComputeCeiling::against, &AgainstPeak::fraction_at_clock)),
          OfTable(measure("clock", "clock", Unit::hertz).with_digits(4),
                  path(&ComputeCeiling::conditions, &GpuConditions::clock_hz))};
}

std::vector<FieldOf<MemoryLevel>> memory_fields() {
  return {{parameter("level", "level"), &MemoryLevel::name, "label"},
          {parameter("kernel", "kernel"), &MemoryLevel::stream},
          {parameter("workers", "workers", Unit::count), &MemoryLevel::workers},
          {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
          {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
          {measure("rate", "rate", Unit::bytes_per_second), &MemoryLevel::value}};
}

std::vector<FieldOf<MemoryLevel>> gpu_memory_fields() {
  return {{parameter("level", "level"), &MemoryLevel::name, "label"},
          {parameter("scope", "scope").as_detail(), &MemoryLevel::scope},
          {parameter("kernel", "kernel"), &MemoryLevel::stream},
          {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
          {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
          {measure("rate", "rate", Unit::bytes_per_second), &MemoryLevel::value},
          {measure("of_datasheet", "of datasheet", Unit::percent), &MemoryLevel::of_datasheet},
          {measure("variant", "fastest variant").as_detail(), &MemoryLevel::variant}};
}

std::vector<FieldOf<LatencyLevel>> latency_fields() {
  return {{parameter("level", "level"), &LatencyLevel::name, "label"},
          {parameter("smallest_bytes", "from", Unit::bytes), &LatencyLevel::smallest},
          {parameter("largest_bytes", "to", Unit::bytes), &LatencyLevel::largest},
          {measure("latency", "latency", Unit::seconds), &LatencyLevel::value}};
}

std::vector<FieldOf<LatencyLevel>> gpu_latency_fields() {
  std::vector<FieldOf<LatencyLevel>> fields = latency_fields();
  fields.push_back({measure("cycles", "cycles"), &LatencyLevel::cycles});
  return fields;
}

std::vector<FieldOf<MemoryPoint>> memory_point_fields() {
  const auto kernel = [](const MemoryPoint& point) { return point.stream.kernel; };
  const auto nontemporal = [](const MemoryPoint& point) { return point.stream.nontemporal; };
  return {{parameter("kernel", "kernel"), kernel},
          {parameter("nontemporal", "nontemporal"), nontemporal},
          {parameter("workers", "workers", Unit::count), &MemoryPoint::workers},
          {parameter("working_set_bytes", "working set", Unit::bytes), &MemoryPoint::working_set},
          {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate},
          {measure("real_rate", "rate with write-allocate", Unit::bytes_per_second),
           &MemoryPoint::real_rate}};
}

std::vector<FieldOf<LatencyPoint>> latency_point_fields() {
  return {{parameter("working_set_bytes", "working set", Unit::bytes), &LatencyPoint::at},
          {measure("latency", "latency", Unit::seconds), &LatencyPoint::value}};
}

std::vector<FieldOf<LadderPoint>> ladder_fields() {
  return {{parameter("intensity", "intensity", Unit::flop_per_byte), &LadderPoint::at},
          {measure("rate", "rate", Unit::flop_per_second), &LadderPoint::value}};
}

/// What is fitted to a ladder, after the columns that name it.
template <class Row>
std::vector<ColumnOf<Row>> roof_columns(std::vector<ColumnOf<Row>> columns) {
  columns.insert(
      columns.end(),
      {{measure("peak", "peak", Unit::flop_per_second), &SoftRoof::peak},
       {measure("bandwidth", "bandwidth", Unit::bytes_per_second), &SoftRoof::bandwidth},
       {measure("ridge", "ridge", Unit::flop_per_byte), &SoftRoof::ridge},
       {measure("sharpness", "sharpness p"), &SoftRoof::sharpness},
       {measure("median_residual", "residual", Unit::percent), &SoftRoof::median_residual}});
  return columns;
}

std::vector<Table> level_tables(const RooflineResult& roofline) {
  return {
      make_table("compute_ceilings",
                 "Compute ceilings (our FMA kernels)",
                 roofline.ceilings,
                 columns_of<ComputeCeiling>(ceiling_fields()),
                 {"Rate per CPU time is the ceiling where the host was contended (CPU share below "
                  "98 %: other work took the core). CPU share is a median without interval."}),
      make_table("memory_levels",
                 "Memory levels (plateaus found in the sweep)",
                 roofline.memory_levels,
                 columns_of<MemoryLevel>(memory_fields()),
                 {"From and to are working sets per worker; the rate counts explicit loads and "
                  "stores of all workers."},
                 below_largest(roofline.memory_levels, &MemoryLevel::workers)),
      make_table("latency_levels",
                 "Memory latency (one dependent load after another)",
                 roofline.latency_levels,
                 columns_of<LatencyLevel>(latency_fields()))};
}

Table soft_roofs(const RooflineResult& roofline) {
  Table table = make_table(
      "soft_roofs",
      "Soft roof fitted to the intensity ladder",
      roofline.soft_roofs,
      roof_columns<SoftRoof>({{parameter("precision", "precision"), &SoftRoof::format},
                              {parameter("workers", "workers", Unit::count), &SoftRoof::workers}}),
      {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and compute perfectly, "
       "1 not at all. Below the ridge, the peak over the best rate of memory where that was "
       "measured, a kernel is bound by memory. The residual is a median over the ladder without "
       "interval."});
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
       {parameter("name", "name").if_present(),
        [](const PlacedGemm& gemm) { return gemm.name.empty() ? Cell{} : Cell{gemm.name}; }},
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
      {"Intensity counts each matrix moved once. Bound: the side of the ridge on which its "
       "intensity lies, however far below the roof; ridge where the known bandwidths allow both. "
       "Intensity is exact; roof and fraction take the ceilings' central values."},
      below_largest(roofline.gemms, &PlacedGemm::workers));
}

std::vector<Table> sweep_tables(const RooflineResult& roofline) {
  return {make_table("memory_points",
                     "Memory sweep, every point",
                     roofline.memory,
                     columns_of<MemoryPoint>(memory_point_fields())),
          make_table("latency_points",
                     "Latency sweep, every point",
                     roofline.latency,
                     columns_of<LatencyPoint>(latency_point_fields())),
          make_table("intensity_points",
                     "Intensity ladder, every point",
                     nested(roofline.soft_roofs, &SoftRoof::points),
                     columns_of<Nested<SoftRoof, LadderPoint>>(
                         ladder_fields(),
                         {{parameter("precision", "precision"), &SoftRoof::format},
                          {parameter("workers", "workers", Unit::count), &SoftRoof::workers}}))};
}

template <class T>
auto of_roofline(std::vector<T> RooflineResult::*list) {
  return [list](const GpuResult& gpu) -> const std::vector<T>& { return gpu.roofline.*list; };
}

Table gpu_memory_table(const Gpus& gpus) {
  const auto rows = nested(gpus, of_roofline(&RooflineResult::memory_levels));
  Table table = gpu_table("gpu_memory_levels",
                          "Memory levels (plateaus found in the sweep)",
                          rows,
                          gpu_memory_fields(),
                          {"From and to are working sets: for L1 and shared of one multiprocessor, "
                           "else of all together. The rate counts explicit loads and stores."});
  const auto copied = [](const auto& row) {
    return std::get<1>(row.levels)->stream.kernel == MemoryKernel::copy;
  };
  if (const auto last = last_row(rows, copied))
    table.tiles = {{*last, "rate", "Memory", "copy", "level"}};
  return table;
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

std::vector<Table> gpu_roofline_tables(const Gpus& gpus) {
  return {gpu_table("gpu_ceilings",
                    "Compute ceilings (multiply-adds on registers)",
                    nested(gpus, of_roofline(&RooflineResult::ceilings)),
                    gpu_ceiling_fields()),
          gpu_memory_table(gpus),
          gpu_table("gpu_latency_levels",
                    "Memory latency (one dependent load after another)",
                    nested(gpus, of_roofline(&RooflineResult::latency_levels)),
                    gpu_latency_fields(),
                    {"Cycles: of the clock counted beside the loads."}),
          make_table("gpu_soft_roofs",
                     "Soft roof of the CUDA cores, fitted to the intensity ladder",
                     nested(gpus, of_roofline(&RooflineResult::soft_roofs)),
                     roof_columns<Nested<GpuResult, SoftRoof>>(
                         {{gpu_column(), gpu_ordinal},
                          {parameter("precision", "format"), &SoftRoof::format}}),
                     {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and "
                      "compute perfectly, 1 not at all."})};
}

std::vector<Table> gpu_sweep_tables(const Gpus& gpus) {
  const auto roofs = nested(gpus, of_roofline(&RooflineResult::soft_roofs));
  return {make_table("gpu_memory_points",
                     "Memory sweep of the device, every size",
                     nested(gpus, of_roofline(&RooflineResult::memory)),
                     {{gpu_column(), gpu_ordinal},
                      {parameter("kernel", "kernel"), &MemoryPoint::stream},
                      {parameter("working_set_bytes", "working set", Unit::bytes),
                       &MemoryPoint::working_set},
                      {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate}}),
          gpu_table("gpu_latency_points",
                    "Latency sweep, every size",
                    nested(gpus, of_roofline(&RooflineResult::latency)),
                    latency_point_fields()),
          gpu_table("gpu_translation_latency",
                    "Latency with one load per 2 MiB: the reach of address translation",
                    nested(gpus, &GpuResult::translation_latency),
                    latency_point_fields()),
          make_table("gpu_intensity_points",
                     "Intensity ladder, every point",
                     nested(roofs, &SoftRoof::points),
                     columns_of<Nested<GpuResult, SoftRoof, LadderPoint>>(
                         ladder_fields(),
                         {{gpu_column(), gpu_ordinal},
                          {parameter("precision", "format"), &SoftRoof::format}}))};
}

void put_shape(Fields& json, const GemmShape& one) {
  json.members("m", one.m, "n", one.n, "k", one.k, "batch", one.batch);
}

void put_placed_gemm(Fields& json, const PlacedGemm& one) {
  json.members("family", family_of(one), "precision", word_of(one.format), "library", one.library);
  put_shape(json, one.shape);
  json.members("workers", one.workers, "intensity_flop_per_byte", one.intensity);
  json.members("rate_flop_per_s", one.rate, "roof_flop_per_s", one.roof);
  json.members("bandwidth_bytes_per_s", one.bandwidth, "fraction", one.fraction);
  json("bound", bound_name(one.bound));
}

void put_conditions(Fields& json, const GpuConditions& one) {
  json.members("clock_hz", one.clock_hz, "power_w", one.power_w);
  json.members("power_from_energy", one.power_from_energy, "temperature_c", one.temperature_c);
  json("slowdown_reasons", one.slowdown_reasons);
}

void put_against(Fields& json, const AgainstPeak& one) {
  json.members("peak_flop_per_s", one.peak, "basis", one.basis, "peak_clock_hz", one.clock_hz);
  json.members("fraction", one.fraction, "clock_ratio", one.clock_ratio);
  json("fraction_at_clock", one.fraction_at_clock);
}

void put_roofline(Fields& json, const RooflineResult& roofline) {
  put_array(json, "ceilings", roofline.ceilings, ceiling_fields());
  put_array(json, "memory_levels", roofline.memory_levels, memory_fields());
  put_array(json, "latency_levels", roofline.latency_levels, latency_fields());
  json.array("soft_roofs", roofline.soft_roofs, [](Fields& of, const SoftRoof& one) {
    of.members("precision", word_of(one.format), "workers", one.workers);
    of.members("peak_flop_per_s", one.peak, "bandwidth_bytes_per_s", one.bandwidth);
    of.members("sharpness", one.sharpness, "sharpness_note", or_null(one.sharpness_note));
    of.members("ridge_flop_per_byte", one.ridge, "median_residual", one.median_residual);
    put_array(of, "points", one.points, ladder_fields());
  });
  json.array("gemms", roofline.gemms, put_placed_gemm);
  put_array(json, "memory", roofline.memory, memory_point_fields());
  put_array(json, "latency", roofline.latency, latency_point_fields());
  json("warnings", roofline.warnings);
}

void put_gpu_levels(Fields& json, const RooflineResult& roofline) {
  json.array("ceilings", roofline.ceilings, [](Fields& of, const ComputeCeiling& one) {
    put_fields(of, one, gpu_ceiling_fields());
    of.object("conditions", one.conditions, put_conditions);
    of.object("against_peak", one.against, put_against);
  });
  put_array(json, "memory_levels", roofline.memory_levels, gpu_memory_fields());
  put_array(json, "latency_levels", roofline.latency_levels, gpu_latency_fields());
}
}  // namespace scaleworth::report
