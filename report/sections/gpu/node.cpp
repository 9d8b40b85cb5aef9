// SPDX-License-Identifier: Apache-2.0
#include "report/sections/gpu/tables.h"

#include <fmt/format.h>

namespace scaleworth::report {

using model::GpuResult;

Table gpu_identity_table(const Gpus& gpus) {
  Table table{"gpu_identities",
              "The GPUs",
              {gpu_column(),
               measure("name", "name"),
               measure("datasheet", "datasheet"),
               measure("multiprocessors", "multiprocessors", Unit::count),
               measure("memory", "memory", Unit::bytes),
               measure("l2_cache", "L2", Unit::bytes),
               measure("maximum_clock", "highest clock", Unit::hertz),
               measure("power_limit", "power limit", Unit::watts),
               measure("uuid", "UUID"),
               measure("datasheet_source", "source of the datasheet")},
              {},
              {}};
  for (Column& column : table.columns) {
    column.detail = column.id == "uuid" || column.id == "datasheet_source";
    column.digits = column.unit == Unit::hertz ? 4 : 3;
  }
  for (const GpuResult& result : gpus) {
    const auto& gpu = result.identity;
    const auto& sheet = gpu.datasheet;
    table.rows.push_back(
        {{gpu_cell(result),
          gpu.name,
          sheet ? Cell{sheet->name} : Cell{},
          gpu.multiprocessors ? count_cell(*gpu.multiprocessors) : Cell{},
          cell_or_absent(gpu.memory),
          cell_or_absent(gpu.l2_cache),
          cell_or_absent(gpu.maximum_clock_hz),
          cell_or_absent(gpu.power_limit_w),
          gpu.uuid,
          sheet ? Cell{fmt::format("{} ({})", sheet->source, sheet->date)} : Cell{}}});
  }
  return table;
}

Table gpus_together_table(const std::optional<model::GpusTogether>& together) {
  Table table{"gpus_together",
              "All GPUs at once",
              {gpu_column(),
               parameter("precision", "format"),
               measure("together", "together", Unit::flop_per_second),
               measure("of_alone", "of alone", Unit::percent),
               measure("of_others", "of the others", Unit::percent),
               measure("clock", "clock", Unit::hertz),
               measure("power", "power", Unit::watts),
               measure("temperature", "heat", Unit::celsius),
               measure("verdict", "verdict")},
              {},
              {"Of the others: of the median of the other GPUs. Slow: surely more than 5 % below; "
               "less is normal between equal GPUs. The slowest sets the pace of a common step."}};
  table.columns[5].digits = 4;
  if (!together) {
    return table;
  }
  for (const auto& pace : together->paces) {
    std::string verdict = "normal";
    if (pace.slow) {
      verdict = "slow: " + (pace.cause.empty() ? "unexplained" : pace.cause);
    }
    table.rows.push_back({{count_cell(pace.ordinal),
                           together->precision,
                           number(pace.together),
                           cell_or_absent(pace.of_alone),
                           cell_or_absent(pace.of_others),
                           cell_or_absent(pace.conditions.clock_hz),
                           cell_or_absent(pace.conditions.power_w),
                           cell_or_absent(pace.conditions.temperature_c),
                           verdict}});
  }
  return table;
}

Table gpu_cost_table(const Gpus& gpus, const model::AnalysisOptions& assumptions) {
  Table table{"gpu_costs",
              "Cost of work",
              {gpu_column(),
               parameter("precision", "format"),
               measure("per_exaflop", "per EFLOP", Unit::dollars),
               measure("per_terabyte", "per TB read from memory", Unit::dollars)},
              {},
              {}};
  if (assumptions.price_per_rank) {
    table.notes.push_back(fmt::format("At {:g} USD per GPU-hour; steady rate, price exact.",
                                      assumptions.price_per_rank->value() * 3600.0));
  }
  for (const GpuResult& gpu : gpus) {
    if (gpu.cost) {
      table.rows.push_back({{gpu_cell(gpu),
                             gpu.cost->precision,
                             cell_or_absent(gpu.cost->per_exaflop),
                             cell_or_absent(gpu.cost->per_terabyte)}});
    }
  }
  return table;
}

}  // namespace scaleworth::report
