// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/resample.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <stdexcept>

namespace scaleworth {

MedianResampler::MedianResampler(std::span<const double> samples)
    : sorted_(samples.begin(), samples.end()) {
  if (sorted_.empty()) throw std::invalid_argument("MedianResampler: no samples");
  std::sort(sorted_.begin(), sorted_.end());
}

double MedianResampler::draw(std::mt19937_64& random) const {
  const std::size_t n = sorted_.size();
  std::gamma_distribution<double> gamma((static_cast<double>(n) + 1.0) / 2.0, 1.0);
  const double below = gamma(random);
  const double position = below / (below + gamma(random)) * static_cast<double>(n);
  return sorted_[std::min(static_cast<std::size_t>(position), n - 1)];
}

double MedianResampler::median() const {
  return *scaleworth::median(sorted_);
}

std::optional<Interval<double>> percentile_interval(std::span<const double> draws) {
  if (draws.size() < 20) return std::nullopt;
  return Interval<double>{*quantile(draws, 0.025), *quantile(draws, 0.975)};
}

std::optional<Interval<double>> hull(const std::optional<Interval<double>>& a,
                                     const std::optional<Interval<double>>& b) {
  if (!a) return b;
  if (!b) return a;
  return Interval<double>{std::min(a->low, b->low), std::max(a->high, b->high)};
}

}  // namespace scaleworth
