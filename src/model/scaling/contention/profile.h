// SPDX-License-Identifier: Apache-2.0
/// 95 % intervals of the contention-coherency law by profile likelihood: of its parameters, and of
/// the counts where its curve has a property.
#pragma once

#include "src/model/cost/cost.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// Every value whose best fit is not worse than the free one by more than F(1, n - 3) at 5 % allows
/// (with the spread of repetitions: by that variance). A value of s or c, like the counts below, is
/// a linear hypothesis on (T1 (1-s), T1 s, T1 c), so that the coverage is exact for normal relative
/// noise away from the bounds (Fieller 1954), and the intervals are as skewed as they must be.
struct ContentionIntervals {
  Interval<double> single;  // s
  Interval<double> serial;
  std::optional<Interval<double>> coherency;  // absent: no upper end
};
/// Absent for fewer than four different counts: nothing is left to say how far the fit may be off.
std::optional<ContentionIntervals> profile_intervals(const std::vector<LawPoint>& points,
                                                     const ContentionFit& fit);

/// A count, not always an integer, with its 95 % interval. Where an end is absent the data allow
/// every count from 1, or up to `farthest_count`.
struct CountEstimate {
  double count = 1.0;
  std::optional<double> low;
  std::optional<double> high;
};
inline constexpr double farthest_count = 1e7;

/// Where E(K) = 1 / (1 + s (K-1) + c K (K-1)) falls to `threshold` in (0, 1), else UserError.
/// Absent when it never does (s = c = 0). The interval is absent below four different counts.
std::optional<CountEstimate> count_at_efficiency(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit,
                                                 double threshold);

/// The count of least time, sqrt((1-s)/c); absent for c = 0.
std::optional<CountEstimate> count_of_least_time(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit);

/// The count of least cost (K p + f) T(K): f (1-s)/K^2 = p (s - c) + 2 p c K + f c. Absent where
/// cost rises from one rank on (as it does for f = 0) or falls for ever.
std::optional<CountEstimate> count_of_least_cost(const std::vector<LawPoint>& points,
                                                 const ContentionFit& fit,
                                                 const Prices& prices);

}  // namespace scaleworth::model
