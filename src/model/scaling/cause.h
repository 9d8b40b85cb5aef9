// SPDX-License-Identifier: Apache-2.0
/// Why the largest count falls short of ideal, from the ledgers alone.
#pragma once

#include "src/model/analysis.h"
#include "src/model/scaling/measured.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// A cause is named only when it explains at least this share of the loss.
inline constexpr double owner_threshold = 0.8;

struct CauseVerdict {
  std::optional<ScalingCause> cause;
  std::string note;  // why there is none, or what the reader should know about it
};

/// Loss = step at the largest count - ideal step from the smallest count K0 (the same time per
/// token and rank: T0 K0/K for constant work, T0 for work per rank). Each part of the ledger loses
/// its own time minus its ideal, so that the parts' losses add to the loss exactly; the mixture
/// divides the gross loss (parts that gained are left out) and adds to 1.
/// Times are the mean over ranks; where there is a culprit, over the other ranks: its own longer
/// work is the same loss as their waiting, and would be counted as a second cause.
/// Abstains when the 95 % interval of the efficiency contains 1, when there is no interval, fewer
/// than two counts or no ledger at both ends.
/// The culprit is the rank that at least 80 % of the exposed wait at the largest count is charged
/// to, when that wait is at least 1 % of the step.
CauseVerdict scaling_cause(const MeasuredMode& mode, const std::vector<ScalingRow>& rows);

}  // namespace scaleworth::model
