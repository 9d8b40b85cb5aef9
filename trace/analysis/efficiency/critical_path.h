// SPDX-License-Identifier: Apache-2.0
/// The chain of work that set the length of the recording.
#pragma once

#include "src/core/attribution/efficiency.h"
#include "trace/analysis/efficiency/replay_graph.h"

#include <vector>

namespace scaleworth::trace {

/// From the end of the window back to its start, from each node to the cause that it waited for
/// last: over streams and calls of a rank, and from rank to rank where a collective had to wait.
/// Summed by rank and kind of work, the largest first; sums to the window exactly.
std::vector<attribution::Efficiency::PathShare> critical_path(const Job& job,
                                                              const ClockMap& clocks,
                                                              const EfficiencyWindow& window,
                                                              const ReplayGraph& graph);

}  // namespace scaleworth::trace
