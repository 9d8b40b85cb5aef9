// SPDX-License-Identifier: Apache-2.0
/// Who held the others up, what that cost and why.
#pragma once

#include "src/core/attribution/culprits.h"
#include "trace/analysis/clocks/align.h"
#include "trace/analysis/steps/find_steps.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// `ledger` is that of `job`; steps that are excluded from averages do not count here either.
attribution::CulpritReport find_culprits(const Job& job,
                                         const StepPlan& steps,
                                         const Waits& waits,
                                         const Alignment& alignment,
                                         const std::vector<attribution::StepLedger>& ledger);

}  // namespace scaleworth::trace
