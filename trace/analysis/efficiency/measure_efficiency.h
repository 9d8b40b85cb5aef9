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

EfficiencyResult measure_efficiency(const Job& job,
                                    const StepPlan& steps,
                                    const Waits& waits,
                                    const Alignment& alignment,
                                    const attribution::CulpritReport& culprits,
                                    const std::vector<attribution::StepLedger>& ledger);

}  // namespace scaleworth::trace
