// SPDX-License-Identifier: Apache-2.0
/// Run and `Analysis` -> `Document`, in order.
#pragma once

#include "report/document.h"
#include "report/table.h"
#include "src/model/analysis.h"

#include <string>
#include <vector>

namespace scaleworth::report {
// The report's sections, one function each; an empty section (no tables, no text) is not shown.

/// What was measured on: facts with their sources.
Section machine_section(const Run& run);
/// Ceilings, memory and latency levels, soft roofs, library kernels under the roof.
Section roofline_section(const model::RooflineResult& roofline);
/// Alpha-beta per collective; isolated latency against back-to-back throughput.
/// Of GPUs: NCCL's choice, the fastest way by size, whose predictions hold.
Section collectives_section(const std::vector<model::CollectiveResult>& collectives,
                            const std::vector<model::AlgorithmResult>& algorithms);
/// The tables of NCCL's collectives; none without results.
std::vector<Table> algorithm_tables(const std::vector<model::AlgorithmResult>& results);
/// Step time, speed-up, efficiency, where the step went, MFU.
Section training_section(const std::vector<model::ScalingResult>& scaling);
/// Laws and predictions, K*, causes, costs.
Section decide_section(const std::vector<model::ScalingResult>& scaling,
                       const model::AnalysisOptions& assumptions);
/// What each GPU can do and loses, transfers, and how evenly all run; empty without GPUs.
Section gpu_section(const model::Analysis& analysis);
/// Findings that are results, numbered.
Section findings_section(const model::Analysis& analysis);
/// Warnings and losses of the run.
Section warnings_section(const Run& run, const model::Analysis& analysis);
/// Probes that gave nothing, with reasons.
Section unmeasured_section(const Run& run);

/// A cell with a whole number.
Cell count_cell(std::int64_t value);

// The summary's parts, one function each; an empty section is not shown.

/// The values in one unit, chosen for their median, with the unit added to the row's name.
Row row_of(const std::string& name, const std::vector<std::optional<Number>>& values, Unit unit);
/// Processor, cores, memory, hypervisor and what else the host did, in one sentence.
std::string machine_line(const Run& run);
/// Ceilings and ridge points of one and of all workers; bandwidth and latency by level.
Section capability_summary(const Run& run, const model::Analysis& analysis);
/// What one GPU of each model reaches: products, memory by level, transfers; empty without GPUs.
Section gpu_summary(const model::Analysis& analysis);
/// One row per collective at the most ranks, from the full document's tables.
Section communication_summary(const Document& full);
/// One row per collective of NCCL among all GPUs, from the full document's tables.
Section nccl_summary(const Document& full);
/// One row per mode and count: time, gain and parts, from the full document's tables.
Section step_summary(const Document& full);
/// Predicted counts, laws, optimum.
Section worth_summary(const model::Analysis& analysis);

// The tables of GPUs, one function per concept; every table has a column that names the GPU.

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

// The summary's tables of one GPU, each without rows when the run has nothing for it.

/// One row per number format: steady and best rate, shares of the peak, clock, power, energy.
Table summary_products(const model::GpuResult& gpu);
/// The user's own products and a model's layers.
Table summary_own_products(const model::GpuResult& gpu);
/// Rates and latencies by level; they differ in unit, so the rows are text.
Table summary_memory(const model::GpuResult& gpu);
/// Host to GPU and back; the slowest and the fastest pair of all `gpus`.
Table summary_transfers(const model::GpuResult& gpu, const std::vector<model::GpuResult>& gpus);
}  // namespace scaleworth::report
