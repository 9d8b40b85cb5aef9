// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"
#include "report/words.h"

#include <tuple>

namespace scaleworth::report {
namespace {
using namespace model;

using Owners = std::vector<RooflineOwner>;

template <class... T>
std::vector<ColumnOf<Nested<RooflineOwner, T...>>> owner_columns() {
  return {{gpu_column().if_present(), &RooflineOwner::gpu}};
}

/// A GPU has no workers.
Column workers_column() {
  return parameter("workers", "workers", Unit::count).in_summary("workers").unless_one();
}

// The fields of each result, for its table and its JSON; what only one kind of owner has is left
// out of the other's table.

std::vector<FieldOf<ComputeCeiling>> ceiling_fields() {
  using OfTable = ColumnOf<ComputeCeiling>;
  const auto contended = [](const ComputeCeiling& one) {
    return one.cpu_share ? std::optional(one.contended) : std::nullopt;
  };
  return {
      {parameter("isa", "instructions").in_summary("Compute"), &ComputeCeiling::isa},
      {parameter("precision", "precision").in_summary("precision"), &ComputeCeiling::precision},
      {workers_column(), &ComputeCeiling::workers},
      {measure("wall_rate", "rate", Unit::flop_per_second), &ComputeCeiling::wall_rate},
      {measure("cpu_rate", "rate per CPU time", Unit::flop_per_second).if_present(),
       &ComputeCeiling::cpu_rate},
      {measure("cpu_share", "CPU share", Unit::percent).if_present(), &ComputeCeiling::cpu_share},
      {measure("contended", "contended").if_present(), contended},
      OfTable(measure("ceiling", "ceiling", Unit::flop_per_second).only_in_summary(),
              &ComputeCeiling::ceiling),
      OfTable(measure("of_datasheet", "of datasheet", Unit::percent).if_present(),
              path(&ComputeCeiling::against, &AgainstPeak::fraction)),
      OfTable(measure("of_peak_at_clock", "of peak at its clock", Unit::percent).if_present(),
              path(&ComputeCeiling::against, &AgainstPeak::fraction_at_clock)),
      OfTable(measure("clock", "clock", Unit::hertz).with_digits(4).if_present(),
              path(&ComputeCeiling::conditions, &GpuConditions::clock_hz))};
}

std::vector<FieldOf<MemoryLevel>> memory_fields() {
  return {{parameter("level", "level").in_summary("Memory by level"), &MemoryLevel::name, "label"},
          {parameter("kernel", "kernel").in_summary("kernel"), &MemoryLevel::stream},
          {workers_column(), &MemoryLevel::workers},
          {parameter("smallest_bytes", "from", Unit::bytes), &MemoryLevel::smallest},
          {parameter("largest_bytes", "to", Unit::bytes), &MemoryLevel::largest},
          {measure("rate", "rate", Unit::bytes_per_second).in_summary("rate"), &MemoryLevel::value},
          {measure("of_datasheet", "of datasheet", Unit::percent)
               .in_summary("of datasheet")
               .if_present(),
           &MemoryLevel::of_datasheet},
          {measure("variant", "fastest variant").as_detail().if_present(), &MemoryLevel::variant}};
}

std::vector<FieldOf<LatencyLevel>> latency_fields() {
  return {
      {parameter("level", "level").in_summary("Latency by level"), &LatencyLevel::name, "label"},
      {parameter("smallest_bytes", "from", Unit::bytes), &LatencyLevel::smallest},
      {parameter("largest_bytes", "to", Unit::bytes), &LatencyLevel::largest},
      {measure("latency", "latency", Unit::seconds).in_summary("latency"), &LatencyLevel::value},
      {measure("cycles", "cycles").in_summary("cycles").if_present(), &LatencyLevel::cycles}};
}

std::vector<FieldOf<MemoryPoint>> memory_point_fields() {
  return {{parameter("kernel", "kernel"), &MemoryPoint::stream},
          {workers_column(), &MemoryPoint::workers},
          {parameter("working_set_bytes", "working set", Unit::bytes), &MemoryPoint::working_set},
          {measure("rate", "rate", Unit::bytes_per_second), &MemoryPoint::rate},
          {measure("real_rate", "rate with write-allocate", Unit::bytes_per_second),
           &MemoryPoint::real_rate}};
}

std::vector<FieldOf<LatencyPoint>> latency_point_fields() {
  return {{parameter("working_set_bytes", "working set", Unit::bytes), &LatencyPoint::at},
          {measure("latency", "latency", Unit::seconds), &LatencyPoint::value}};
}

std::vector<FieldOf<PlacedGemm>> product_fields() {
  using OfTable = ColumnOf<PlacedGemm>;
  const auto name = [](const PlacedGemm& gemm) { return gemm.name.empty() ? Cell{} : gemm.name; };
  const auto of = [](auto member) { return path(&PlacedGemm::shape, member); };
  return {
      {parameter("family", "family"), &PlacedGemm::family},
      OfTable(parameter("name", "name").in_summary("Own products").if_present(), name),
      {parameter("precision", "precision").in_summary("precision"), &PlacedGemm::format},
      OfTable(parameter("m", "m", Unit::count).in_summary("m"), of(&GemmShape::m)),
      OfTable(parameter("n", "n", Unit::count).in_summary("n"), of(&GemmShape::n)),
      OfTable(parameter("k", "k", Unit::count).in_summary("k"), of(&GemmShape::k)),
      OfTable(parameter("batch", "batch", Unit::count), of(&GemmShape::batch)),
      {workers_column().as_detail(), &PlacedGemm::workers},
      {parameter("library", "library").as_detail(), &PlacedGemm::library},
      {measure("intensity", "intensity", Unit::flop_per_byte).in_summary("intensity"),
       &PlacedGemm::intensity},
      {measure("rate", "rate", Unit::flop_per_second).in_summary("rate"), &PlacedGemm::rate},
      {measure("roof", "roof", Unit::flop_per_second), &PlacedGemm::roof},
      {measure("fraction", "of roof", Unit::percent).in_summary("of its roof"),
       &PlacedGemm::fraction},
      {measure("of_datasheet", "of datasheet", Unit::percent)
           .in_summary("of datasheet")
           .if_present(),
       &PlacedGemm::of_datasheet},
      OfTable(measure("bound", "bound").in_summary("bound"), path(&PlacedGemm::bound, bound_name))};
}

/// Of the list of each owner; all owners are of one kind.
template <class T>
auto rows_of(const Owners& owners, std::vector<T> RooflineResult::*list) {
  return nested(
      owners, [list](const RooflineOwner& one) -> const std::vector<T>& { return one.of->*list; });
}

/// Of the rows with fewer workers than the most.
template <class T>
auto fewer_workers(const std::vector<Nested<RooflineOwner, T>>& rows) {
  const auto workers = [](const Nested<RooflineOwner, T>& row) {
    return std::get<1>(row.levels)->workers;
  };
  const int most = rows.empty() ? 0 : workers(*std::ranges::max_element(rows, {}, workers));
  return [=](const Nested<RooflineOwner, T>& row) { return workers(row) < most; };
}

template <class T>
Table owned_table(const std::string& id,
                  const std::string& title,
                  const std::vector<Nested<RooflineOwner, T>>& rows,
                  const std::vector<FieldOf<T>>& fields,
                  const std::type_identity_t<std::function<bool(const Nested<RooflineOwner, T>&)>>&
                      is_detail = {}) {
  return make_table(id, title, rows, columns_of(fields, owner_columns<T>()), {}, is_detail);
}

/// Which rows are in the summary: of shown owners those that `is` says.
template <class T, class Is>
void summarise_rows(Table& table, const std::vector<Nested<RooflineOwner, T>>& rows, Is is) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [owner, one] = rows[i].levels;
    table.rows[i].in_summary = owner->shown && is(*owner, *one);
  }
}

/// Of one worker and of the most the fastest of each precision.
Table ceilings(const Owners& owners) {
  const auto rows = rows_of(owners, &RooflineResult::ceilings);
  Table table = owned_table(
      "compute_ceilings", "Compute ceilings (multiply-adds on registers)", rows, ceiling_fields());
  summarise_rows(table, rows, [](const RooflineOwner& owner, const ComputeCeiling& one) {
    const auto& all = owner.of->ceilings;
    const bool ends = one.workers == 1 || one.workers == largest(all, &ComputeCeiling::workers);
    return !owner.gpu && ends && fastest_ceiling(all, one.precision, one.workers) == &one;
  });
  return table;
}

/// Of the cores one kernel, of a GPU reads and all of memory.
Table memory_levels(const Owners& owners) {
  const auto rows = rows_of(owners, &RooflineResult::memory_levels);
  Table table = owned_table("memory_levels",
                            "Memory levels (plateaus found in the sweep)",
                            rows,
                            memory_fields(),
                            fewer_workers(rows));
  summarise_rows(table, rows, [](const RooflineOwner& owner, const MemoryLevel& one) {
    if (owner.gpu)
      return one.stream.kernel == MemoryKernel::read || one.name.known == MemoryLevelName::memory;
    const auto& all = owner.of->memory_levels;
    return one.workers == largest(all, &MemoryLevel::workers) && one.stream == all.front().stream;
  });
  const auto copied = [](const auto& row) {
    const auto& [owner, one] = row.levels;
    return owner->gpu && one->stream.kernel == MemoryKernel::copy;
  };
  if (const auto last = last_row(rows, copied))
    table.tiles = {{*last, "rate", "Memory", "copy", "level"}};
  return table;
}

Table latency_levels(const Owners& owners) {
  const auto rows = rows_of(owners, &RooflineResult::latency_levels);
  Table table = owned_table("latency_levels",
                            "Memory latency (one dependent load after another)",
                            rows,
                            latency_fields());
  summarise_rows(table, rows, [](const auto&, const auto&) { return true; });
  return table;
}

/// Products of one family together, small ones first; they are measured in random order.
Table products(const Owners& owners) {
  auto rows = rows_of(owners, &RooflineResult::gemms);
  std::ranges::sort(rows, {}, [](const auto& row) {
    const auto& [owner, one] = row.levels;
    return std::tuple(owner->gpu, family_of(*one), word_of(one->format), one->workers, one->shape);
  });
  Table table = owned_table("gemms",
                            "Library matrix products under the measured roof",
                            rows,
                            product_fields(),
                            fewer_workers(rows));
  summarise_rows(table, rows, [](const auto&, const PlacedGemm& one) { return !one.name.empty(); });
  return table;
}
}  // namespace

std::string family_of(const PlacedGemm& gemm) {
  return gemm.family ? word_of(*gemm.family) : "";
}

std::vector<Table> roofline_tables(const Owners& owners) {
  return {ceilings(owners),
          memory_levels(owners),
          latency_levels(owners),
          products(owners),
          all_detail(owned_table("memory_points",
                                 "Memory sweep, every point",
                                 rows_of(owners, &RooflineResult::memory),
                                 memory_point_fields())),
          all_detail(owned_table("latency_points",
                                 "Latency sweep, every point",
                                 rows_of(owners, &RooflineResult::latency),
                                 latency_point_fields()))};
}

Section roofline_section(const RooflineResult& roofline) {
  return section_of("roofline",
                    "Roofline: what this machine can do",
                    roofline_tables({{std::nullopt, &roofline, true}}));
}

void put_shape(Fields& json, const GemmShape& one) {
  json.members("m", one.m, "n", one.n, "k", one.k, "batch", one.batch);
}

void put_conditions(Fields& json, const GpuConditions& one) {
  json.members("clock_hz", one.clock_hz, "power_w", one.power_w);
  json.members("power_from_energy", one.power_from_energy, "temperature_c", one.temperature_c);
  std::vector<std::pair<std::string, double>> reasons;
  for (const auto& [reason, share] : one.slowdown_reasons)
    reasons.emplace_back(word_of(reason), share);
  json("slowdown_reasons", reasons);
}

void put_against(Fields& json, const AgainstPeak& one) {
  json.members(
      "peak_flop_per_s", one.peak, "basis", said(one.basis), "peak_clock_hz", one.clock_hz);
  json.members("fraction", one.fraction, "clock_ratio", one.clock_ratio);
  json("fraction_at_clock", one.fraction_at_clock);
}

void put_roofline(Fields& json, const RooflineResult& roofline) {
  json.array("ceilings", roofline.ceilings, [](Fields& of, const ComputeCeiling& one) {
    put_fields(of, one, ceiling_fields());
    if (one.cpu_share) return;  // of a GPU
    of.object("conditions", one.conditions, put_conditions);
    of.object("against_peak", one.against, put_against);
  });
  put_array(json, "memory_levels", roofline.memory_levels, memory_fields());
  put_array(json, "latency_levels", roofline.latency_levels, latency_fields());
  json.array("gemms", roofline.gemms, [](Fields& of, const PlacedGemm& one) {
    put_fields(of, one, product_fields());
    put_shape(of, one.shape);
    of.members("name", or_null(one.name), "bound", bound_name(one.bound));
    of("bandwidth_bytes_per_s", one.bandwidth);
  });
  put_array(json, "memory", roofline.memory, memory_point_fields());
  put_array(json, "latency", roofline.latency, latency_point_fields());
  json("warnings", said(roofline.warnings));
}
}  // namespace scaleworth::report
