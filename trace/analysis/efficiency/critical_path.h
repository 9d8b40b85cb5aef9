// SPDX-License-Identifier: Apache-2.0
/// The chain of work that set the length of the recording.
#pragma once

#include "src/core/attribution/efficiency.h"
#include "trace/analysis/efficiency/predictor.h"

#include <vector>

namespace scaleworth::trace {

/// From the end of each run back to its start, from each node to the cause that it waited for
/// last: over streams and calls of a rank, and from rank to rank where a collective had to wait.
/// Summed by rank and kind of work, the largest first; sums to the runs' length exactly.
std::vector<attribution::Efficiency::PathShare> critical_path(const Job& job,
                                                              const ClockMap& clocks,
                                                              const std::vector<ReplayedRun>& runs);

}  // namespace scaleworth::trace
