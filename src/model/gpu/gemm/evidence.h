// SPDX-License-Identifier: Apache-2.0
/// What the run knows about why one product is below its peak.
#pragma once

#include "src/model/gpu/gemm/waterfall.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <span>

namespace scaleworth::model {

/// Why the clock stands where it does: the name of its waterfall step ("power cap", "heat",
/// "settled clock") and a phrase with the readings. A reason counts when it was given in at least
/// half of the readings; without one, a power within 5 % of the limit does.
struct ClockCause {
  std::string step = "settled clock";
  std::string evidence;
};
ClockCause clock_cause(const GpuConditions& conditions, const GpuIdentity& gpu);

/// What a GPU's other probes say about its products.
struct OtherProbes {
  std::span<const GpuCeiling> ceilings;
  std::span<const GpuLaunch> launches;
};

/// For a `product` with a peak. `best` is the best shape of its format.
WaterfallEvidence evidence_for(const GpuGemm& product,
                               const std::optional<GpuGemm>& best,
                               const OtherProbes& others,
                               const GpuIdentity& gpu);

}  // namespace scaleworth::model
