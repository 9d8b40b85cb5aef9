// SPDX-License-Identifier: Apache-2.0
/// Where a collective changes its protocol: boundaries between stretches of sizes that each follow
/// one line alpha + beta n.
#pragma once

#include "src/core/units.h"

#include <cstddef>
#include <span>
#include <vector>

namespace scaleworth::model {

/// Time of one operation at one message size.
struct TimedSize {
  Bytes message;
  Seconds time;
};

/// First indices of one to three segments of `points` (ascending sizes, no duplicates), at least
/// three points each. Minimises, by dynamic programming over the boundaries,
///   sum over segments min over alpha, beta >= 0 of sum cauchy((alpha + beta n - t) / (t sigma))
///   + 1.5 ln(points) per segment after the first
/// (half the Bayesian information criterion's price of two coefficients and a boundary); sigma is
/// the curve's noise, at least 1 %; Cauchy's corner at 2.385 sigma. {0} for fewer than six points.
std::vector<std::size_t> segment_starts(std::span<const TimedSize> points);

}  // namespace scaleworth::model
