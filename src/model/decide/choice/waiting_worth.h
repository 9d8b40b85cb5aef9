// SPDX-License-Identifier: Apache-2.0
/// What an hour of waiting must be worth for each count to be the one to take.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <vector>

namespace scaleworth::decide {

struct WaitingWorth {
  int count = 1;
  /// From this value of an hour of waiting on, up to that of the next.
  DollarsPerSecond from;
};

/// The counts that minimise C(K) + v T(K) for some v >= 0, of the same work, by rising v: the first
/// is the cheapest, from 0, the last the fastest. They are the lower convex hull of the costs over
/// the times; a count that is on it for no v is dominated by a mixture of others. `excluded` counts
/// take no part. Empty unless all rows have costs, or where none is left.
std::vector<WaitingWorth> waiting_worth(const std::vector<DecisionRow>& rows,
                                        const std::vector<int>& excluded);

}  // namespace scaleworth::decide
