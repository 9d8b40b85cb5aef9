// SPDX-License-Identifier: Apache-2.0
#include "report/sections/gpu/tables.h"

namespace scaleworth::report {

using model::GpuResult;

Table gpu_ceiling_table(const Gpus& gpus) {
  Table table{"gpu_ceilings",
              "Compute ceilings (multiply-adds on registers)",
              {gpu_column(),
               parameter("isa", "unit"),
               parameter("precision", "format"),
               measure("rate", "rate", Unit::flop_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("of_peak_at_clock", "of peak at its clock", Unit::percent),
               measure("clock", "clock", Unit::hertz)},
              {},
              {}};
  table.columns.back().digits = 4;
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.ceilings) {
      const auto& against = found.against;
      table.rows.push_back({{gpu_cell(gpu),
                             found.ceiling.isa,
                             found.ceiling.precision,
                             number(found.ceiling.wall_rate),
                             against ? Cell{number(against->fraction)} : Cell{},
                             against ? cell_or_absent(against->fraction_at_clock) : Cell{},
                             cell_or_absent(found.conditions.clock_hz)}});
    }
  }
  return table;
}

Table gpu_memory_table(const Gpus& gpus) {
  Table table{"gpu_memory_levels",
              "Memory levels (plateaus found in the sweep)",
              {gpu_column(),
               parameter("level", "level"),
               parameter("scope", "scope"),
               parameter("kernel", "kernel"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("variant", "fastest variant")},
              {},
              {"From and to are working sets: for L1 and shared of one multiprocessor, else of all "
               "together. The rate counts explicit loads and stores."}};
  for (Column& column : table.columns) {
    column.detail = column.id == "scope" || column.id == "variant";
  }
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.memory_levels) {
      table.rows.push_back({{gpu_cell(gpu),
                             found.level.label,
                             found.scope,
                             found.level.kernel,
                             number(found.level.smallest),
                             number(found.level.largest),
                             number(found.level.rate),
                             cell_or_absent(found.of_datasheet),
                             found.variant}});
    }
  }
  return table;
}

Table gpu_latency_table(const Gpus& gpus) {
  Table table{"gpu_latency_levels",
              "Memory latency (one dependent load after another)",
              {gpu_column(),
               parameter("level", "level"),
               parameter("smallest_bytes", "from", Unit::bytes),
               parameter("largest_bytes", "to", Unit::bytes),
               measure("latency", "latency", Unit::seconds),
               measure("cycles", "cycles")},
              {},
              {"Cycles: of the clock counted beside the loads."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& found : gpu.latency_levels) {
      table.rows.push_back({{gpu_cell(gpu),
                             found.level.label,
                             number(found.level.smallest),
                             number(found.level.largest),
                             number(found.level.latency),
                             cell_or_absent(found.cycles)}});
    }
  }
  return table;
}

Table gpu_soft_roof_table(const Gpus& gpus) {
  Table table{"gpu_soft_roofs",
              "Soft roof of the CUDA cores, fitted to the intensity ladder",
              {gpu_column(),
               parameter("precision", "format"),
               measure("peak", "peak", Unit::flop_per_second),
               measure("bandwidth", "bandwidth", Unit::bytes_per_second),
               measure("ridge", "ridge", Unit::flop_per_byte),
               measure("sharpness", "sharpness p"),
               measure("median_residual", "residual", Unit::percent)},
              {},
              {"1/P(I)^p = 1/peak^p + 1/(bandwidth I)^p; a large p overlaps memory and compute "
               "perfectly, 1 not at all."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& roof : gpu.roofline.soft_roofs) {
      table.rows.push_back({{gpu_cell(gpu),
                             roof.precision,
                             number(roof.peak),
                             number(roof.bandwidth),
                             number(roof.ridge),
                             number(roof.sharpness),
                             number(roof.median_residual)}});
    }
  }
  return table;
}

Table gpu_memory_point_table(const Gpus& gpus) {
  Table table{"gpu_memory_points",
              "Memory sweep of the device, every size",
              {gpu_column(),
               parameter("kernel", "kernel"),
               parameter("working_set_bytes", "working set", Unit::bytes),
               measure("rate", "rate", Unit::bytes_per_second)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.roofline.memory) {
      table.rows.push_back(
          {{gpu_cell(gpu), point.kernel, number(point.working_set), number(point.rate)}, true});
    }
  }
  return table;
}

namespace {

Table latency_points(const char* id, const char* title) {
  return {id,
          title,
          {gpu_column(),
           parameter("working_set_bytes", "working set", Unit::bytes),
           measure("latency", "latency", Unit::seconds)},
          {},
          {}};
}

}  // namespace

Table gpu_latency_point_table(const Gpus& gpus) {
  Table table = latency_points("gpu_latency_points", "Latency sweep, every size");
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.roofline.latency) {
      table.rows.push_back(
          {{gpu_cell(gpu), number(point.working_set), number(point.latency)}, true});
    }
  }
  return table;
}

Table gpu_translation_table(const Gpus& gpus) {
  Table table = latency_points("gpu_translation_latency",
                               "Latency with one load per 2 MiB: the reach of address translation");
  for (const GpuResult& gpu : gpus) {
    for (const auto& point : gpu.translation_latency) {
      table.rows.push_back(
          {{gpu_cell(gpu), number(point.working_set), number(point.latency)}, true});
    }
  }
  return table;
}

Table gpu_intensity_point_table(const Gpus& gpus) {
  Table table{"gpu_intensity_points",
              "Intensity ladder, every point",
              {gpu_column(),
               parameter("precision", "format"),
               parameter("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second)},
              {},
              {}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& roof : gpu.roofline.soft_roofs) {
      for (const auto& point : roof.points) {
        table.rows.push_back(
            {{gpu_cell(gpu), roof.precision, number(point.intensity), number(point.rate)}, true});
      }
    }
  }
  return table;
}

}  // namespace scaleworth::report
