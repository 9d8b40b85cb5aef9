// SPDX-License-Identifier: Apache-2.0
/// POP factors, critical path and what-if, from a replay of the recorded dependencies.
#pragma once

#include "src/core/attribution/culprits.h"
#include "src/core/attribution/efficiency.h"
#include "trace/analysis/clocks/align.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

struct EfficiencyResult {
  std::optional<attribution::Efficiency> efficiency;
  std::string reason;  // why it is absent
};

/// POP factors over all runs of steps that count (window.h), what-ifs and critical path from
/// a replay of the recorded dependencies (replay_graph.h, replay.h). Useful is the union of kernels
/// that are not communication; with T the window and T0 the same with transfers of no length,
///   load balance = mean useful / largest useful, transfer = T0 / T,
///   serialization = largest useful / T0 = host * dependency.
/// Abstains for one rank, for clocks that do not compare, and when the replay without a change
/// misses the recording by more than a tenth. Source: POP Centre of Excellence, "POP Standard
/// Metrics for Parallel Performance Analysis".
EfficiencyResult measure_efficiency(const Job& job,
                                    const StepPlan& steps,
                                    const Waits& waits,
                                    const Alignment& alignment,
                                    const attribution::CulpritReport& culprits);

}  // namespace scaleworth::trace
