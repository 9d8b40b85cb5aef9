// SPDX-License-Identifier: Apache-2.0
/// The attribute stage: from a job's recordings to an account of its time.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/analysis/clocks/align.h"
#include "trace/analysis/collectives/match.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

namespace scaleworth::trace {

/// The results, in which ranks are those of the job, and what exports need beside them, in which
/// ranks are places in Job::recordings.
struct Attributed {
  attribution::Attribution result;
  Matching matching;
  Alignment alignment;
  StepPlan steps;
  Waits waits;
};

/// `job` must be classified.
Attributed attribute(const Job& job);

}  // namespace scaleworth::trace
