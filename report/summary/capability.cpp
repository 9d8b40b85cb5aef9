// SPDX-License-Identifier: Apache-2.0
#include "report/document_parts.h"
#include "report/names.h"
#include "report/sections/sections.h"
#include "report/summary/parts.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace scaleworth::report {

Row row_of(const std::string& name, const std::vector<std::optional<Number>>& values, Unit unit) {
  std::vector<double> magnitudes;
  for (const auto& value : values) {
    if (value) {
      magnitudes.push_back(value->value);
    }
  }
  const Scale scale = scale_for(unit, median(magnitudes).value_or(0.0));
  Row row{{scale.symbol.empty() ? name : name + " (" + scale.symbol + ")"}, false};
  for (const auto& value : values) {
    row.cells.push_back(value ? format_number(*value, unit, scale) : "n/a");
  }
  return row;
}

namespace {

using model::ComputeCeiling;
using model::RooflineResult;

const Estimate<FlopPerSecond>& ceiling_rate(const ComputeCeiling& ceiling) {
  return ceiling.ceiling();
}

const ComputeCeiling* best(const RooflineResult& roofline,
                           const std::string& precision,
                           int workers) {
  const ComputeCeiling* found = nullptr;
  for (const ComputeCeiling& one : roofline.ceilings) {
    const bool fits = one.precision == precision && one.workers == workers;
    if (fits && (!found || ceiling_rate(one).value > ceiling_rate(*found).value)) {
      found = &one;
    }
  }
  return found;
}

Cell ridge(const RooflineResult& roofline, const std::string& precision, int workers) {
  for (const auto& roof : roofline.soft_roofs) {
    if (roof.precision == precision && roof.workers == workers) {
      return number(roof.ridge);
    }
  }
  return {};
}

/// The best share of its roof that a library product reached.
Cell best_product(const RooflineResult& roofline, const std::string& precision, int workers) {
  std::optional<double> share;
  for (const auto& one : roofline.gemms) {
    if (one.precision == precision && one.workers == workers) {
      share = std::max(share.value_or(0.0), one.fraction);
    }
  }
  return cell_or_absent(share);
}

std::string workers_phrase(int workers) {
  return fmt::format("{} {}", workers, workers == 1 ? "worker" : "workers");
}

/// The instructions of the fastest kernel with the most workers.
std::string fastest_isa(const RooflineResult& roofline, const std::string& precision, int workers) {
  const ComputeCeiling* ceiling = best(roofline, precision, workers);
  return ceiling ? " " + ceiling->isa : "";
}

/// Cells of one worker count; `contended` collects the ceilings that are per second of CPU time.
Row compute_row(const RooflineResult& roofline, int workers, std::string& contended) {
  Row row{{workers_phrase(workers)}, false};
  for (const char* precision : {"fp32", "fp64"}) {
    const ComputeCeiling* ceiling = best(roofline, precision, workers);
    row.cells.push_back(ceiling ? Cell{number(ceiling_rate(*ceiling))} : Cell{});
    if (ceiling && ceiling->contended) {
      contended += fmt::format(
          "{}{} of {}", contended.empty() ? "" : ", ", precision, workers_phrase(workers));
    }
  }
  row.cells.insert(row.cells.end(),
                   {ridge(roofline, "fp32", workers),
                    ridge(roofline, "fp64", workers),
                    best_product(roofline, "fp32", workers)});
  return row;
}

/// Ceilings and ridge points of one worker and of the most.
Table compute(const RooflineResult& roofline) {
  int most = 1;
  for (const auto& ceiling : roofline.ceilings) {
    most = std::max(most, ceiling.workers);
  }
  Table table{
      "compute",
      "",
      {parameter("workers", "Machine"),
       measure("fp32", "fp32 FMA" + fastest_isa(roofline, "fp32", most), Unit::flop_per_second),
       measure("fp64", "fp64 FMA" + fastest_isa(roofline, "fp64", most), Unit::flop_per_second),
       measure("ridge_fp32", "fp32 ridge", Unit::flop_per_byte),
       measure("ridge_fp64", "fp64 ridge", Unit::flop_per_byte),
       measure("product", "best fp32 BLAS of roof", Unit::percent)},
      {},
      {}};
  std::string contended;
  for (const int workers : std::set<int>{1, most}) {
    table.rows.push_back(compute_row(roofline, workers, contended));
  }
  if (!contended.empty()) {
    table.notes.push_back("Other work held the cores, so per second of CPU time: " + contended +
                          ".");
  }
  return table;
}

/// The plateaus of one kernel with the most workers.
std::vector<model::MemoryLevel> plateaus(const RooflineResult& roofline) {
  std::vector<model::MemoryLevel> levels;
  int most = 0;
  for (const auto& level : roofline.memory_levels) {
    most = std::max(most, level.workers);
  }
  for (const char* kernel : {"read", "triad", "copy", "write"}) {
    for (const auto& level : roofline.memory_levels) {
      if (level.workers == most && level.kernel == kernel) {
        levels.push_back(level);
      }
    }
    if (!levels.empty()) {
      break;
    }
  }
  return levels;
}

/// The plateau of this name over the largest working sets.
const model::LatencyLevel* latency_at(const RooflineResult& roofline, const std::string& label) {
  const model::LatencyLevel* found = nullptr;
  for (const auto& level : roofline.latency_levels) {
    found = level.label == label ? &level : found;
  }
  return found;
}

/// Bandwidth and latency differ in unit, so their rows are text.
Table memory(const RooflineResult& roofline) {
  const auto levels = plateaus(roofline);
  Table table{"levels", "", {}, {}, {}};
  if (levels.empty()) {
    return table;
  }
  const std::string kernel = levels.front().kernel;
  const int workers = levels.front().workers;
  table.columns.push_back(parameter("what", "Memory by level"));
  std::vector<std::optional<Number>> rates;
  std::vector<std::optional<Number>> latencies;
  for (const auto& level : levels) {
    const auto* latency = latency_at(roofline, level.label);
    table.columns.push_back(measure("level", level.label));
    rates.emplace_back(number(level.rate));
    latencies.push_back(latency ? std::optional(number(latency->latency)) : std::nullopt);
  }
  table.rows = {row_of(fmt::format("{} x {}", kernel, workers), rates, Unit::bytes_per_second),
                row_of("latency", latencies, Unit::seconds)};
  return table;
}

}  // namespace

Section capability_summary(const Run& run, const model::Analysis& analysis) {
  Section section{"capability", "", {}, {}, {}};
  const std::string machine = machine_line(run);
  if (!machine.empty()) {
    section.lead = {machine};
  }
  if (analysis.roofline) {
    section.tables = {compute(*analysis.roofline), memory(*analysis.roofline)};
    drop_empty_tables(section);
  }
  return section;
}

}  // namespace scaleworth::report
