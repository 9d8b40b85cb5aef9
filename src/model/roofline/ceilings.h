// SPDX-License-Identifier: Apache-2.0
/// Compute ceilings: what the FMA kernels reached, and whether the host let them.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {

/// One ceiling per measured point of roofline.compute. Points without samples are left out;
/// without `cpu_s` (GPUs) the CPU figures are absent. A
/// contended ceiling (median thread-CPU share < 0.98), and one whose workers report more CPU time
/// than wall time, is named in `warnings`.
/// Throws UserError when a point lacks a parameter, an amount or a series.
std::vector<ComputeCeiling> compute_ceilings(const ProbeRecord& probe,
                                             std::vector<std::string>& warnings);

/// The highest rate of any kernel of that precision and worker count: the wall rate, or the rate
/// per thread-CPU-second where contended. Absent when none was measured.
std::optional<FlopPerSecond> best_ceiling(std::span<const ComputeCeiling> ceilings,
                                          const std::string& precision,
                                          int workers);

}  // namespace scaleworth::model
