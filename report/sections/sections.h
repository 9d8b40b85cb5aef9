// SPDX-License-Identifier: Apache-2.0
/// The report's sections, one function each; an empty section (no tables, no text) is not shown.
#pragma once

#include "report/document.h"

namespace scaleworth::report {

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
Section gpu_section(const model::Analysis& analysis, const model::AnalysisOptions& assumptions);
/// Findings that are results, numbered.
Section findings_section(const model::Analysis& analysis);
/// Doubts, warnings and losses of the run.
Section doubts_section(const Run& run, const model::Analysis& analysis);
/// Probes that gave nothing, with reasons.
Section unmeasured_section(const Run& run);

/// A column of the row's name.
Column parameter(std::string id, std::string header, Unit unit = Unit::plain);
/// A column of results.
Column measure(std::string id, std::string header, Unit unit = Unit::plain);
/// A cell with a whole number.
Cell count_cell(std::int64_t value);

}  // namespace scaleworth::report
