// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/interval.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace scaleworth {
namespace {

/// The largest r >= 1 with 2 P(Binomial(n, 1/2) < r) <= 1 - confidence; 0 if there is none.
std::size_t outer_rank(std::size_t n, double confidence) {
  const double allowed = (1.0 - confidence) / 2.0;
  const auto trials = static_cast<double>(n);
  double tail = 0.0;
  std::size_t rank = 0;
  for (std::size_t below = 0; below < n / 2; ++below) {
    const auto successes = static_cast<double>(below);
    // In logarithms, for 0.5^n underflows from n = 1075 on.
    tail += std::exp(std::lgamma(trials + 1) - std::lgamma(successes + 1) -
                     std::lgamma(trials - successes + 1) - trials * std::log(2.0));
    if (tail > allowed) break;
    rank = below + 1;
  }
  return rank;
}

}  // namespace

std::optional<Interval<double>> median_interval(std::span<const double> samples,
                                                double confidence) {
  const std::size_t rank = outer_rank(samples.size(), confidence);
  if (rank == 0) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval<double>{sorted[rank - 1], sorted[sorted.size() - rank]};
}

Estimate<double> median_estimate(std::span<const double> samples) {
  const std::optional<double> centre = median(samples);
  if (!centre) throw std::invalid_argument("median_estimate: no samples");
  return {*centre, median_interval(samples), samples.size()};
}

std::optional<Interval<double>> bootstrap_interval(
    std::span<const double> samples,
    const std::function<std::optional<double>(std::span<const double>)>& statistic,
    double confidence,
    int resamples,
    std::uint64_t seed) {
  if (samples.size() < 2) return std::nullopt;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> pick(0, samples.size() - 1);
  std::vector<double> resample(samples.size());
  std::vector<double> values;
  for (int repetition = 0; repetition < resamples; ++repetition) {
    for (double& value : resample) value = samples[pick(random)];
    if (const std::optional<double> value = statistic(resample)) values.push_back(*value);
  }
  if (2 * values.size() < static_cast<std::size_t>(resamples) || values.empty())
    return std::nullopt;
  const double tail = (1.0 - confidence) / 2.0;
  return Interval<double>{*quantile(values, tail), *quantile(values, 1.0 - tail)};
}

}  // namespace scaleworth
