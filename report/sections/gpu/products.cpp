// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/gemm/products.h"

#include "report/names.h"
#include "report/sections/gpu/tables.h"

namespace scaleworth::report {
namespace {

using model::GpuFormat;
using model::GpuGemm;
using model::GpuResult;

std::string format_of(const GpuFormat& format) {
  return model::format_text(format.precision, format.fast_accumulation);
}

Cell rate_cell(const std::optional<GpuGemm>& gemm) {
  return gemm ? Cell{number(gemm->rate)} : Cell{};
}

Cell shape_cell(const std::optional<GpuGemm>& gemm) {
  return gemm ? Cell{shape_text(gemm->shape)} : Cell{};
}

Column with_digits(Column column, int digits) {
  column.digits = digits;
  return column;
}

std::string basis_note(const GpuResult& gpu) {
  std::string bases;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) {
      continue;
    }
    const auto& against = *format.steady->against;
    const std::string basis =
        format_quantity(number(against.peak.value()), Unit::flop_per_second, 4) + " (" +
        against.basis + ")";
    if (bases.find(basis) == std::string::npos) {
      bases += (bases.empty() ? "" : "; ") + basis;
    }
  }
  return bases;
}

void add_conditions(const GpuResult& gpu,
                    const GpuFormat& format,
                    const std::optional<GpuGemm>& gemm,
                    Table& table) {
  if (!gemm) {
    return;
  }
  const auto& against = gemm->against;
  const auto& conditions = gemm->conditions;
  std::string reasons;
  for (const auto& [reason, share] : conditions.slowdown_reasons) {
    reasons += (reasons.empty() ? "" : ", ") + reason + " " +
               format_quantity(number(share), Unit::percent);
  }
  table.rows.push_back({{gpu_cell(gpu),
                         format_of(format),
                         gemm->pass,
                         number(gemm->rate),
                         against ? Cell{number(against->fraction)} : Cell{},
                         against ? cell_or_absent(against->fraction_at_clock) : Cell{},
                         cell_or_absent(conditions.clock_hz),
                         against ? cell_or_absent(against->clock_ratio) : Cell{},
                         cell_or_absent(conditions.power_w),
                         cell_or_absent(conditions.temperature_c),
                         cell_or_absent(gemm->flop_per_joule),
                         reasons,
                         gemm->algorithm,
                         gemm->library}});
}

}  // namespace

Table gpu_format_table(const Gpus& gpus) {
  Table table{
      "gpu_formats",
      "Library matrix products by number format",
      {gpu_column(),
       parameter("precision", "format"),
       measure("steady", "steady", Unit::flop_per_second),
       measure("steady_shape", "shape"),
       measure("burst", "burst", Unit::flop_per_second),
       measure("best_shape_rate", "best shape's", Unit::flop_per_second),
       measure("best_shape", "best shape"),
       measure("tuning_headroom", "tuning gain", Unit::percent)},
      {},
      {"Steady: no gap between products, clock settled. Burst: the first 100 ms after a "
       "pause. Best shape: the fastest that the search found with a reset between products, "
       "comparable with MAMF tables; a maximum, so a little optimistic. Tuning gain: best "
       "algorithm over the library's first proposal."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "steady_shape";
  }
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      Cell headroom;
      if (format.tuning_headroom) {
        headroom = transform(*format.tuning_headroom, [](double ratio) { return ratio - 1.0; });
      }
      table.rows.push_back({{gpu_cell(gpu),
                             format_of(format),
                             rate_cell(format.steady),
                             shape_cell(format.steady),
                             rate_cell(format.burst),
                             rate_cell(format.best_shape),
                             shape_cell(format.best_shape),
                             headroom}});
    }
  }
  return table;
}

Table gpu_condition_table(const Gpus& gpus) {
  Table table{
      "gpu_conditions",
      "Clock, power and share of the datasheet of these products",
      {gpu_column(),
       parameter("precision", "format"),
       parameter("pass", "pass"),
       measure("rate", "rate", Unit::flop_per_second),
       measure("of_datasheet", "of datasheet", Unit::percent),
       measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
       with_digits(measure("clock", "clock", Unit::hertz), 4),
       measure("clock_ratio", "clock over datasheet's"),
       measure("power", "power", Unit::watts),
       measure("temperature", "heat", Unit::celsius),
       measure("flop_per_joule", "energy", Unit::flop_per_joule),
       measure("slowdown_reasons", "held down by"),
       measure("algorithm", "algorithm"),
       measure("library", "library")},
      {},
      {"Clock: median of cycles counted on the GPU. Power: energy over time in windows of 2 s "
       "and more, else the median reading."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "clock_ratio" || column.id == "algorithm" ||
                    column.id == "library" || column.id == "rate" || column.id == "temperature";
  }
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      for (const auto* gemm : {&format.steady, &format.burst, &format.best_shape}) {
        add_conditions(gpu, format, *gemm, table);
      }
    }
    const std::string bases = basis_note(gpu);
    if (!bases.empty() && table.notes.size() == 1) {
      table.notes.push_back("Peaks: " + bases + ".");
    }
  }
  return table;
}

Table gpu_waterfall_table(const Gpus& gpus) {
  Table table{
      "gpu_waterfall",
      "Loss waterfall: from the datasheet to the steady rate",
      {gpu_column(),
       parameter("precision", "format"),
       parameter("step", "step"),
       measure("change", "change", Unit::flop_per_second),
       with_digits(measure("rate_after", "leaves", Unit::flop_per_second), 4),
       measure("evidence", "because")},
      {},
      {"The changes add up from the datasheet's peak to the measured rate. What no figure of "
       "this run explains is called unexplained."}};
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (!format.waterfall) {
        continue;
      }
      const auto& waterfall = *format.waterfall;
      const bool detail = format.precision != "bf16" && &format != &gpu.formats.front();
      FlopPerSecond rate = waterfall.spec;
      table.rows.push_back(
          {{gpu_cell(gpu), format_of(format), "datasheet", Cell{}, number(rate), waterfall.basis},
           detail});
      for (const auto& step : waterfall.steps) {
        rate += step.change.value_or(FlopPerSecond(0.0));
        table.rows.push_back({{gpu_cell(gpu),
                               format_of(format),
                               step.name,
                               cell_or_absent(step.change),
                               step.change ? Cell{number(rate)} : Cell{},
                               step.evidence},
                              detail});
      }
    }
  }
  return table;
}

Table gpu_placement_table(const Gpus& gpus) {
  Table table{
      "gpu_placements",
      "Products under the measured roof",
      {gpu_column(),
       parameter("layer", "product"),
       parameter("precision", "format"),
       parameter("shape", "shape"),
       measure("intensity", "intensity", Unit::flop_per_byte),
       measure("rate", "rate", Unit::flop_per_second),
       measure("roof", "roof", Unit::flop_per_second),
       measure("fraction", "of roof", Unit::percent),
       measure("of_datasheet", "of datasheet", Unit::percent),
       measure("bound", "bound")},
      {},
      {"Roof: the highest measured rate of the format, or the memory's rate over as many "
       "bytes as the operands times the intensity. Bound: neither means below 80 % of it."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "roof";
  }
  for (const GpuResult& gpu : gpus) {
    for (const auto& placement : gpu.placements) {
      const auto& gemm = placement.gemm;
      table.rows.push_back({{gpu_cell(gpu),
                             placement.name.empty() ? gemm.family : placement.name,
                             gemm.precision,
                             shape_text({gemm.m, gemm.n, gemm.k, gemm.batch}),
                             number(gemm.intensity),
                             number(gemm.rate),
                             number(gemm.roof),
                             number(gemm.fraction),
                             cell_or_absent(placement.of_datasheet),
                             std::string(bound_name(gemm.bound))}});
    }
  }
  return table;
}

Table gpu_ridge_table(const Gpus& gpus) {
  Table table{"gpu_ridge_batches",
              "Tokens at the ridge: with fewer, memory is the bound",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("layer", "products"),
               measure("ridge", "ridge", Unit::flop_per_byte),
               measure("tokens", "tokens")},
              {},
              {"Ridge: highest measured rate of the format over the memory's read rate. n/a: the "
               "products stay below it at any number of tokens."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& batch : gpu.ridge_batches) {
      table.rows.push_back({{gpu_cell(gpu),
                             batch.precision,
                             batch.layer,
                             number(batch.ridge),
                             cell_or_absent(batch.tokens)}});
    }
  }
  return table;
}

Table gpu_contention_table(const Gpus& gpus) {
  Table table{"gpu_contention",
              "A product beside a collective that holds multiprocessors",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("multiprocessors", "left to the product", Unit::count),
               measure("rate", "rate", Unit::flop_per_second),
               measure("of_all", "of the rate with all", Unit::percent),
               measure("of_multiprocessors", "multiprocessors left", Unit::percent)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.contention) {
      table.rows.push_back({{gpu_cell(gpu),
                             point.precision,
                             count_cell(point.multiprocessors),
                             number(point.rate),
                             number(point.of_all),
                             number(point.of_multiprocessors)}});
    }
  }
  return table;
}

}  // namespace scaleworth::report
