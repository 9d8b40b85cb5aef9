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

/// Collectives, clocks and steps of a job, where they are known.
struct Known {
  Matching matching;
  Alignment alignment;
  StepPlan steps;
};

/// `job` must be classified. Null: all of that is to be found.
Attributed attribute(const Job& job, const Known* known = nullptr);
}  // namespace scaleworth::trace
