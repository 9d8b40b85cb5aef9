// SPDX-License-Identifier: Apache-2.0
/// Bootstrap draws of medians: what the median would have been, had the samples been taken again.
#pragma once

#include "src/core/estimate.h"

#include <optional>
#include <random>
#include <span>
#include <vector>

namespace scaleworth {

/// Draws medians of resamples (with replacement, same size) in constant time: the median of n
/// uniform ranks is Beta((n+1)/2, (n+1)/2) distributed (exact for odd n; David & Nagaraja, Order
/// Statistics, 3rd ed., section 2.1). One sample gives itself every time.
class MedianResampler {
 public:
  /// Throws std::invalid_argument for no samples.
  explicit MedianResampler(std::span<const double> samples);
  double draw(std::mt19937_64& random) const;
  /// The median of the samples themselves.
  double median() const;

 private:
  std::vector<double> sorted_;
};

/// The central 95 % of bootstrap draws (percentile method). Absent for fewer than 20 draws.
std::optional<Interval<double>> percentile_interval(std::span<const double> draws);

/// The smallest interval that contains both; absent when both are.
std::optional<Interval<double>> hull(const std::optional<Interval<double>>& a,
                                     const std::optional<Interval<double>>& b);

}  // namespace scaleworth
