// SPDX-License-Identifier: Apache-2.0
/// Everything that a run's training steps say about scaling.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"
#include "src/model/scaling/prediction.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// The prices of the options; absent without --price.
std::optional<Prices> prices_of(const AnalysisOptions& options);

/// One result per mode that has a measured count: rows with MFU and cost, the contention-coherency
/// law, the prediction from measured parts, the choice by cost and the cause.
/// `ceilings` measured FMA rates, may be empty; `all_reduce` may be empty.
/// A strong curve ends at the global batch: a rank without a sequence has no work.
/// Throws UserError for malformed points.
std::vector<ScalingResult> analyse_scaling(const Run& run,
                                           const AnalysisOptions& options,
                                           const std::vector<ComputeCeiling>& ceilings,
                                           const AllReduceTime& all_reduce);

}  // namespace scaleworth::model
