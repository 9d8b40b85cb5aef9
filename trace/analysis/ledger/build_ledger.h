// SPDX-License-Identifier: Apache-2.0
/// The ledger of every step of every rank of a job: src/core/attribution/step_ledger.h.
#pragma once

#include "src/core/attribution/step_ledger.h"
#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// Ordered by (step, rank); each entry passes check_sums. Ranks are places in Job::recordings.
/// Events over a step's boundary are cut at it. Which of several kernels counts: activity_sweep.h;
/// what idle time is due to: idle_division.h. Events must be in the order of sort_events.
std::vector<attribution::StepLedger> build_job_ledger(const Job& job,
                                                      const StepPlan& steps,
                                                      const Waits& waits,
                                                      const ClockMap& clocks);

}  // namespace scaleworth::trace
