// SPDX-License-Identifier: Apache-2.0
/// The tables of GPUs, one function per concept; every table has a column that names the GPU.
#pragma once

#include "report/sections/sections.h"

#include <string>
#include <vector>

namespace scaleworth::report {

using Gpus = std::vector<model::GpuResult>;

inline constexpr const char* gpu_section_id = "gpus";

/// Column and cell that name a GPU.
Column gpu_column();
Cell gpu_cell(const model::GpuResult& gpu);
/// "8192x8192x8192", with the batch where it is not 1.
std::string shape_text(const model::GemmShape& shape);

// products.cpp
Table gpu_format_table(const Gpus& gpus);
Table gpu_condition_table(const Gpus& gpus);
Table gpu_waterfall_table(const Gpus& gpus);
Table gpu_placement_table(const Gpus& gpus);
Table gpu_ridge_table(const Gpus& gpus);
Table gpu_contention_table(const Gpus& gpus);

// levels.cpp
Table gpu_ceiling_table(const Gpus& gpus);
Table gpu_memory_table(const Gpus& gpus);
Table gpu_latency_table(const Gpus& gpus);
Table gpu_soft_roof_table(const Gpus& gpus);
Table gpu_memory_point_table(const Gpus& gpus);
Table gpu_latency_point_table(const Gpus& gpus);
Table gpu_translation_table(const Gpus& gpus);
Table gpu_intensity_point_table(const Gpus& gpus);

// transfers.cpp
Table gpu_transfer_table(const Gpus& gpus);
Table gpu_transfer_point_table(const Gpus& gpus);
/// Rate of one-way copies at the largest size, sources down, targets across; for more than one GPU
/// or NUMA node, else without rows.
Table gpu_matrix_table(const Gpus& gpus);
Table gpu_launch_table(const Gpus& gpus);

// node.cpp
Table gpu_identity_table(const Gpus& gpus);
Table gpus_together_table(const std::optional<model::GpusTogether>& together);
Table gpu_cost_table(const Gpus& gpus, const model::AnalysisOptions& assumptions);

}  // namespace scaleworth::report
