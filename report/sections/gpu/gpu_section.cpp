// SPDX-License-Identifier: Apache-2.0
#include "report/sections/gpu/tables.h"

#include <fmt/format.h>

namespace scaleworth::report {

Column gpu_column() {
  return parameter("gpu", "GPU", Unit::count);
}

Cell gpu_cell(const model::GpuResult& gpu) {
  return count_cell(gpu.identity.ordinal);
}

std::string shape_text(const model::GemmShape& shape) {
  const std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  return shape.batch == 1 ? text : fmt::format("{} x {}", text, shape.batch);
}

Section gpu_section(const model::Analysis& analysis, const model::AnalysisOptions& assumptions) {
  Section section{gpu_section_id, "GPUs: what each can do, and what it loses", {}, {}, {}};
  const Gpus& gpus = analysis.gpus;
  if (gpus.empty()) {
    return section;
  }
  for (Table& table : std::vector<Table>{
           gpu_identity_table(gpus),      gpus_together_table(analysis.gpus_together),
           gpu_format_table(gpus),        gpu_condition_table(gpus),
           gpu_waterfall_table(gpus),     gpu_placement_table(gpus),
           gpu_ridge_table(gpus),         gpu_contention_table(gpus),
           gpu_ceiling_table(gpus),       gpu_memory_table(gpus),
           gpu_latency_table(gpus),       gpu_soft_roof_table(gpus),
           gpu_transfer_table(gpus),      gpu_matrix_table(gpus),
           gpu_launch_table(gpus),        gpu_cost_table(gpus, assumptions),
           gpu_memory_point_table(gpus),  gpu_latency_point_table(gpus),
           gpu_translation_table(gpus),   gpu_intensity_point_table(gpus),
           gpu_transfer_point_table(gpus)}) {
    if (!table.rows.empty()) {
      section.tables.push_back(std::move(table));
    }
  }
  return section;
}

}  // namespace scaleworth::report
