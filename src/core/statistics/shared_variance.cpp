// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/shared_variance.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaleworth {
namespace {
/// Fewer tell nothing: two or three variances agree by chance.
constexpr std::size_t least_samples = 4;

/// psi(x) and its first derivative, x > 0: recurrence up to 6, there the asymptotic series
/// (Abramowitz and Stegun 6.3.5, 6.3.18, 6.4.6, 6.4.12); within 1e-8.
struct Polygamma {
  double digamma = 0.0;
  double trigamma = 0.0;
};
Polygamma polygamma(double x) {
  Polygamma value;
  while (x < 6.0) {
    value.digamma -= 1.0 / x;
    value.trigamma += 1.0 / (x * x);
    x += 1.0;
  }
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  value.digamma +=
      std::log(x) - 0.5 * inverse - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0));
  value.trigamma += inverse + 0.5 * square +
                    inverse * square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0));
  return value;
}

/// x > 0 with trigamma(x) = value, by bisection of ln x: trigamma falls from x = 0 on.
double trigamma_inverse(double value) {
  double low = std::log(1e-3);
  double high = std::log(1e6);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (polygamma(std::exp(middle)).trigamma > value ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace

SampleVariance variance_prior(std::span<const SampleVariance> samples) {
  std::vector<double> centred;
  double scatter_by_chance = 0.0;
  double all_degrees = 0.0;
  for (const SampleVariance& sample : samples) {
    if (!(sample.variance > 0.0) || !(sample.degrees > 0.0)) continue;
    const double half = 0.5 * sample.degrees;
    const Polygamma of_half = polygamma(half);
    centred.push_back(std::log(sample.variance) - of_half.digamma + std::log(half));
    scatter_by_chance += of_half.trigamma;
    all_degrees += sample.degrees;
  }
  if (centred.size() < least_samples) return {};
  const auto count = static_cast<double>(centred.size());
  double mean = 0.0;
  for (const double one : centred) mean += one / count;
  double scatter = 0.0;
  for (const double one : centred) scatter += (one - mean) * (one - mean) / (count - 1.0);
  const double excess = scatter - scatter_by_chance / count;
  if (excess <= 0.0) return {std::exp(mean), all_degrees};
  const double half = trigamma_inverse(excess);
  const double log_variance = mean + polygamma(half).digamma - std::log(half);
  return {std::exp(log_variance), std::min(2.0 * half, all_degrees)};
}

SampleVariance moderated(const SampleVariance& sample, const SampleVariance& prior) {
  const double degrees = sample.degrees + prior.degrees;
  const double weighted =
      (sample.degrees * sample.variance + prior.degrees * prior.variance) / degrees;
  return {std::max(sample.variance, weighted), degrees};
}
}  // namespace scaleworth
