// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/products.h"

#include "report/names.h"
#include "report/sections/sections.h"
#include "report/summary/gpu/tables.h"

#include <string>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuFormat;
using model::GpuResult;

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
  Table table{"gpu_products",
              "",
              {parameter("precision", fmt::format("GPU {}", gpu.identity.ordinal)),
               measure("steady", "steady", Unit::flop_per_second),
               measure("best", "best shape", Unit::flop_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("at_clock", "at its clock", Unit::percent),
               measure("clock", "clock", Unit::hertz),
               measure("power", "power", Unit::watts),
               measure("energy", "energy", Unit::flop_per_joule)},
              {},
              {}};
  table.columns[5].digits = 4;
  for (const GpuFormat& format : gpu.formats) {
    const auto& steady = format.steady;
    const auto& best = format.best_shape;
    const bool against = steady && steady->against;
    table.rows.push_back({{model::format_text(format.precision, format.fast_accumulation),
                           steady ? Cell{number(steady->rate)} : Cell{},
                           best ? Cell{number(best->rate)} : Cell{},
                           against ? Cell{number(steady->against->fraction)} : Cell{},
                           against ? cell_or_absent(steady->against->fraction_at_clock) : Cell{},
                           steady ? cell_or_absent(steady->conditions.clock_hz) : Cell{},
                           steady ? cell_or_absent(steady->conditions.power_w) : Cell{},
                           steady ? cell_or_absent(steady->flop_per_joule) : Cell{}}});
  }
  const std::string note = peak_note(gpu);
  if (!note.empty() && !table.rows.empty()) {
    table.notes.push_back(note);
  }
  return table;
}

Table summary_own_products(const GpuResult& gpu) {
  Table table{"gpu_own_products",
              "",
              {parameter("layer", fmt::format("GPU {} own", gpu.identity.ordinal)),
               parameter("precision", "format"),
               parameter("shape", "shape"),
               measure("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second),
               measure("fraction", "of its roof", Unit::percent),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("bound", "bound")},
              {},
              {}};
  for (const auto& placement : gpu.placements) {
    if (placement.name.empty()) {
      continue;
    }
    const auto& gemm = placement.gemm;
    table.rows.push_back({{placement.name,
                           gemm.precision,
                           fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k),
                           number(gemm.intensity),
                           number(gemm.rate),
                           number(gemm.fraction),
                           cell_or_absent(placement.of_datasheet),
                           std::string(bound_name(gemm.bound))}});
  }
  return table;
}

}  // namespace scaleworth::report
