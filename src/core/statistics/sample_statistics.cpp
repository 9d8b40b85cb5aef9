// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <unsupported/Eigen/SpecialFunctions>

namespace scaleworth {
namespace {
std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// The largest r >= 1 with 2 P(Binomial(n, 1/2) < r) <= 1 - 0.95; 0 if there is none.
std::size_t outer_rank(std::size_t n) {
  constexpr double allowed = (1.0 - 0.95) / 2.0;
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

/// P(|T| > t).
double exceeding(double t, double degrees_of_freedom) {
  return Eigen::numext::betainc(
      degrees_of_freedom / 2.0, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t));
}
}  // namespace

std::optional<double> quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> sorted = sorted_copy(samples);
  const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

std::optional<double> median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

std::optional<Interval<double>> median_interval(std::span<const double> samples) {
  const std::size_t rank = outer_rank(samples.size());
  if (rank == 0) return std::nullopt;
  const std::vector<double> sorted = sorted_copy(samples);
  return Interval<double>{sorted[rank - 1], sorted[sorted.size() - rank]};
}

Estimate<double> median_estimate(std::span<const double> samples) {
  const std::optional<double> centre = median(samples);
  if (!centre) throw std::invalid_argument("median_estimate: no samples");
  return {*centre, median_interval(samples), samples.size()};
}

Estimate<double> ratio(const Estimate<double>& a, const Estimate<double>& b) {
  for (const double value : {a.value, b.value}) {
    if (std::isfinite(value) && value > 0.0) continue;
    throw std::invalid_argument("ratio: values must be positive and finite");
  }
  Estimate<double> result{a.value / b.value, std::nullopt, std::min(a.samples, b.samples)};
  if (!a.interval || !b.interval || a.interval->low <= 0.0 || b.interval->low <= 0.0) return result;
  const double below =
      std::hypot(std::log(a.value / a.interval->low), std::log(b.interval->high / b.value));
  const double above =
      std::hypot(std::log(a.interval->high / a.value), std::log(b.value / b.interval->low));
  result.interval =
      Interval<double>{result.value * std::exp(-below), result.value * std::exp(above)};
  return result;
}

double student_t_two_sided(double confidence, double degrees_of_freedom) {
  if (!(confidence > 0.0 && confidence < 1.0 && degrees_of_freedom > 0.0)) {
    throw std::invalid_argument("student_t_two_sided: confidence or degrees of freedom");
  }
  const auto exceeded = [&](double t) { return exceeding(t, degrees_of_freedom); };
  double low = 0.0;
  double high = 1.0;
  while (exceeded(high) > 1.0 - confidence) high *= 2.0;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2.0;
    (exceeded(middle) > 1.0 - confidence ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

double student_t_below(double t, double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0.0)) {
    throw std::invalid_argument("student_t_below: degrees of freedom");
  }
  const double tail = 0.5 * exceeding(t, degrees_of_freedom);
  return t > 0.0 ? 1.0 - tail : tail;
}

MedianResampler::MedianResampler(std::span<const double> samples) : sorted_(sorted_copy(samples)) {
  if (sorted_.empty()) throw std::invalid_argument("MedianResampler: no samples");
}

double MedianResampler::draw(std::mt19937_64& random) const {
  const std::size_t n = sorted_.size();
  std::gamma_distribution<double> gamma((static_cast<double>(n) + 1.0) / 2.0, 1.0);
  const double below = gamma(random);
  const double position = below / (below + gamma(random)) * static_cast<double>(n);
  return sorted_[std::min(static_cast<std::size_t>(position), n - 1)];
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
