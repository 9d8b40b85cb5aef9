// SPDX-License-Identifier: Apache-2.0
/// Change-point detection: the flat stretches of a curve, without assuming how many or where.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace scaleworth::model {

/// Points first..last (inclusive) lie at one height.
struct Plateau {
  std::size_t first = 0;
  std::size_t last = 0;
  double height = 0.0;  // median of the logarithms
};

/// Splits a curve (logarithms, in order of size) into plateaus and transition points by dynamic
/// programming. Minimises
///   sum over plateaus (6 + sum huber((y - median) / sigma)) + 4 per transition point,
/// sigma = max(curve_noise, 0.03); a plateau has at least two points. Neighbours whose heights
/// differ by less than 15 % are one plateau. Assumes independent errors of similar size at all
/// points.
std::vector<Plateau> find_plateaus(std::span<const double> logs);

}  // namespace scaleworth::model
