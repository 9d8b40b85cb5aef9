// SPDX-License-Identifier: Apache-2.0
/// The summary's parts, one function each; an empty section is not shown.
#pragma once

#include "report/document.h"

namespace scaleworth::report {

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

}  // namespace scaleworth::report
