// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaleworth {

std::optional<double> quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

std::optional<double> median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

std::optional<double> median_absolute_deviation(std::span<const double> samples) {
  const std::optional<double> centre = median(samples);
  if (!centre) return std::nullopt;
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::abs(sample - *centre));
  return median(deviations);
}

}  // namespace scaleworth
