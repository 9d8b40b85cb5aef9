// SPDX-License-Identifier: Apache-2.0
#include "report/json_values.h"
#include "report/names.h"
#include "report/run/run_report.h"

#include <algorithm>
#include <tuple>

namespace scaleworth::report {
namespace {
using model::RooflineResult;

/// The short formats show what all workers together reach.
template <class T>
int most_workers(const std::vector<T>& results) {
  int most = 0;
  for (const T& result : results) {
    most = std::max(most, result.workers);
  }
  return most;
}

Table ceilings(const RooflineResult& roofline) {
  Table table{"compute_ceilings",
              "Compute ceilings (our FMA kernels)",
              {parameter("isa", "instructions"),
               parameter("precision", "precision"),
               parameter("workers", "workers", Unit::count),
               measure("wall_rate", "rate", Unit::flop_per_second),
               measure("cpu_rate", "rate per CPU time", Unit::flop_per_second),
               measure("cpu_share", "CPU share", Unit::percent),
               measure("contended", "contended")},
              {},
              {"Rate per CPU time is the ceiling where the host was contended (CPU share below "
               "98 %: other work took the core). CPU share is a median without interval."}};
  for (const auto& ceiling : roofline.ceilings) {
    table.rows.push_back({{ceiling.isa,
                           ceiling.precision,
                           count_cell(ceiling.workers),
                           number(ceiling.wall_rate),
                           cell_or_absent(ceiling.cpu_rate),
                           cell_or_absent(ceiling.cpu_share),
                           std::string(ceiling.contended ? "yes" : "no")}});
  }
  return table;
}

Table memory_levels(const RooflineResult& roofline) {
  Table table{"memory_levels",
              "Memory levels (plateaus found in the sweep)",
              {parameter("level", "level"),
               parameter("kernel", "kernel"),
               parameter("workers", "workers", Unit::count),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second)},
              {},
              {"From and to are working sets per worker; the rate counts explicit loads and stores "
               "of all workers."}};
  const int most = most_workers(roofline.memory_levels);
  for (const auto& level : roofline.memory_levels) {
    table.rows.push_back({{level.label,
                           level.kernel,
                           count_cell(level.workers),
                           number(level.smallest),
                           number(level.largest),
                           number(level.rate)},
                          level.workers < most});
  }
  return table;
}

Table latency_levels(const RooflineResult& roofline) {
  Table table{"latency_levels",
              "Memory latency (one dependent load after another)",
              {parameter("level", "level"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("latency", "latency", Unit::seconds)},
              {},
              {}};
  for (const auto& level : roofline.latency_levels) {
    table.rows.push_back(
        {{level.label, number(level.smallest), number(level.largest), number(level.latency)}});
  }
  return table;
}

Table soft_roofs(const RooflineResult& roofline) {
  Table table{"soft_roofs",
              "Soft roof fitted to the intensity ladder",
              {parameter("precision", "precision"),
               parameter("workers", "workers", Unit::count),
               measure("peak", "peak", Unit::flop_per_second),
               measure("bandwidth", "bandwidth", Unit::bytes_per_second),
               measure("ridge", "ridge", Unit::flop_per_byte),
               measure("sharpness", "sharpness p"),
               measure("median_residual", "residual", Unit::percent)},
              {},
              {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and compute "
               "perfectly, 1 not at all. Below the ridge a kernel is bound by memory. The residual "
               "is a median over the ladder without interval."}};
  for (const auto& roof : roofline.soft_roofs) {
    if (!roof.sharpness_note.empty()) {
      table.notes.push_back(roof.precision + ": " + roof.sharpness_note);
    }
    table.rows.push_back({{roof.precision,
                           count_cell(roof.workers),
                           number(roof.peak),
                           number(roof.bandwidth),
                           number(roof.ridge),
                           number(roof.sharpness),
                           number(roof.median_residual)}});
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
  Table table{"gemms",
              "Library matrix products under the measured roof",
              {parameter("family", "family"),
               parameter("precision", "precision"),
               parameter("m", "m", Unit::count),
               parameter("n", "n", Unit::count),
               parameter("k", "k", Unit::count),
               parameter("batch", "batch", Unit::count),
               parameter("workers", "workers", Unit::count),
               parameter("library", "library"),
               measure("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second),
               measure("roof", "roof", Unit::flop_per_second),
               measure("fraction", "of roof", Unit::percent),
               measure("bound", "bound")},
              {},
              {"Intensity counts each matrix moved once. Bound: neither means below 80 % of its "
               "roof. Intensity is exact; roof and fraction take the ceilings' central values."}};
  for (const char* id : {"workers", "library"}) {
    for (Column& column : table.columns) {
      column.detail = column.detail || column.id == id;
    }
  }
  const int most = most_workers(roofline.gemms);
  for (const auto& gemm : by_shape(roofline.gemms)) {
    table.rows.push_back({{gemm.family,
                           gemm.precision,
                           count_cell(gemm.m),
                           count_cell(gemm.n),
                           count_cell(gemm.k),
                           count_cell(gemm.batch),
                           count_cell(gemm.workers),
                           gemm.library,
                           number(gemm.intensity),
                           number(gemm.rate),
                           number(gemm.roof),
                           number(gemm.fraction),
                           std::string(bound_name(gemm.bound))},
                          gemm.workers < most});
  }
  return table;
}

Table memory_points(const RooflineResult& roofline) {
  Table table{"memory_points",
              "Memory sweep, every point",
              {parameter("kernel", "kernel"),
               parameter("nontemporal", "nontemporal"),
               parameter("workers", "workers", Unit::count),
               parameter("working_set_bytes", "working set", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("real_rate", "rate with write-allocate", Unit::bytes_per_second)},
              {},
              {}};
  for (const auto& point : roofline.memory) {
    table.rows.push_back({{point.kernel,
                           std::string(point.nontemporal ? "yes" : "no"),
                           count_cell(point.workers),
                           number(point.working_set),
                           number(point.rate),
                           number(point.real_rate)},
                          true});
  }
  return table;
}

Table latency_points(const RooflineResult& roofline) {
  Table table{"latency_points",
              "Latency sweep, every point",
              {parameter("working_set_bytes", "working set", Unit::bytes),
               measure("latency", "latency", Unit::seconds)},
              {},
              {}};
  for (const auto& point : roofline.latency) {
    table.rows.push_back({{number(point.working_set), number(point.latency)}, true});
  }
  return table;
}

Table intensity_points(const RooflineResult& roofline) {
  Table table{"intensity_points",
              "Intensity ladder, every point",
              {parameter("precision", "precision"),
               parameter("workers", "workers", Unit::count),
               parameter("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second)},
              {},
              {}};
  for (const auto& roof : roofline.soft_roofs) {
    for (const auto& point : roof.points) {
      table.rows.push_back(
          {{roof.precision, count_cell(roof.workers), number(point.intensity), number(point.rate)},
           true});
    }
  }
  return table;
}
}  // namespace

Section roofline_section(const RooflineResult& roofline) {
  Section section{"roofline", "Roofline: what this machine can do", {}, {}, {}};
  for (Table& table : std::vector<Table>{ceilings(roofline),
                                         memory_levels(roofline),
                                         latency_levels(roofline),
                                         soft_roofs(roofline),
                                         gemms(roofline),
                                         memory_points(roofline),
                                         latency_points(roofline),
                                         intensity_points(roofline)}) {
    if (!table.rows.empty()) {
      section.tables.push_back(std::move(table));
    }
  }
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
