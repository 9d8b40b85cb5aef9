// SPDX-License-Identifier: Apache-2.0
/// The attribute stage: from a job's recordings to an account of its time.
#pragma once

#include "src/core/attribution.h"
#include "trace/analysis/clocks.h"
#include "trace/analysis/matching.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/waits.h"
#include "trace/recording.h"

namespace scaleworth::trace {
/// The results, in which ranks are those of the job, and what exports need beside them, in which
/// ranks are places in Job::recordings.
struct Attributed {
  Attribution result;
  Matching matching;
  Alignment alignment;
  StepPlan steps;
  Waits waits;
};

/// `job` must be classified.
Attributed attribute(const Job& job);
}  // namespace scaleworth::trace
