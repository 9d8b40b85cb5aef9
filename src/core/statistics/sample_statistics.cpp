// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <unsupported/Eigen/SpecialFunctions>

namespace scaleworth {
namespace {
std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// What an interval leaves out at each end.
constexpr double half_outside = (1.0 - confidence) / 2.0;

/// The largest r >= 1 with 2 P(Binomial(n, 1/2) < r) <= 1 - 0.95; 0 if there is none.
std::size_t outer_rank(std::size_t n) {
  const auto trials = static_cast<double>(n);
  double tail = 0.0;
  std::size_t rank = 0;
  for (std::size_t below = 0; below < n / 2; ++below) {
    const auto successes = static_cast<double>(below);
    // In logarithms, for 0.5^n underflows from n = 1075 on.
    tail += std::exp(std::lgamma(trials + 1) - std::lgamma(successes + 1) -
                     std::lgamma(trials - successes + 1) - trials * std::log(2.0));
    if (tail > half_outside) break;
    rank = below + 1;
  }
  return rank;
}

/// Ranks less their mean; equal samples share theirs.
std::vector<double> centred_ranks(std::span<const double> samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  std::vector<double> ranks;
  for (const double sample : samples) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), sample);
    ranks.push_back(static_cast<double>((first - sorted.begin()) - (sorted.end() - last)) / 2.0);
  }
  return ranks;
}

/// P(|T| > t).
double exceeding(double t, double degrees_of_freedom) {
  return Eigen::numext::betainc(
      degrees_of_freedom / 2.0, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t));
}

/// Fewer tell nothing: two or three variances agree by chance.
constexpr std::size_t least_samples = 4;

double trigamma(double x) {
  return Eigen::numext::polygamma(1.0, x);
}

/// x > 0 with trigamma(x) = value, by bisection of ln x: trigamma falls from x = 0 on.
double trigamma_inverse(double value) {
  double low = std::log(1e-3);
  double high = std::log(1e6);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (trigamma(std::exp(middle)) > value ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}
}  // namespace

std::optional<double> quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::nullopt;
  const std::vector<double> sorted = sorted_copy(samples);
  const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = saturated<std::size_t>(position);
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

Autocorrelation autocorrelation(std::span<const double> series) {
  const auto n = static_cast<double>(series.size());
  if (n < 6.0) return {0.0, n};  // its bias correction divides by n - 4
  const std::vector<double> ranks = centred_ranks(series);
  const auto product = [&](std::size_t lag) {
    return std::inner_product(ranks.begin() + lag, ranks.end(), ranks.begin(), 0.0);
  };
  const double squares = product(0);
  if (squares == 0.0) return {0.0, n};
  const double first = product(1) / squares;
  const double lag1 = std::clamp((n * first + 1.0) / (n - 4.0), -1.0, 1.0);
  double presumed = std::max(0.0, lag1);
  // So few often show no correlation by chance. Presumed; docs/accuracy.md ("Intervals of medians")
  // has the coverage that follows: less covers too seldom, more widens every short series.
  if (n < 20.0) presumed += 0.75 * std::sqrt((1.0 - presumed * presumed) / n);
  presumed = std::min(presumed, 1.0);
  // Subtracting the samples' own mean rank biases each term by about -1 / n.
  double sum = first + 1.0 / n;
  for (std::size_t lag = 2; lag + 1 < series.size(); lag += 2) {
    const double pair = (product(lag) + product(lag + 1)) / squares + 2.0 / n;
    if (pair <= 0.0) break;
    sum += pair;
  }
  const double tau = std::max((1.0 + presumed) / (1.0 - presumed), 1.0 + 2.0 * sum);
  return {lag1, std::max(2.0, n / tau)};
}

std::map<int, std::vector<double>> by_run(const Series& series) {
  std::map<int, std::vector<double>> runs;
  for (std::size_t i = 0; i < series.size(); ++i)
    runs[std::max(series.run(i), 0)].push_back(series[i]);
  return runs;
}

std::optional<RunSpread> run_spread(const Series& series) {
  const std::map<int, std::vector<double>> runs = by_run(series);
  if (runs.size() < 2) return std::nullopt;
  RunSpread spread;
  double within = 0.0;  // sum of the squared half-widths
  for (const auto& [run, samples] : runs) {
    const Estimate<double> one = series_estimate(samples);
    spread.medians.push_back(one.value);
    within += std::pow((one.high() - one.low()) / 2.0, 2);
  }
  const auto n = static_cast<double>(runs.size());
  const double variance = moments_of(spread.medians).of_one.variance;
  spread.half_width = std::sqrt(n * median_variance(n)) *
                      std::max(student_t_two_sided(confidence, n - 1.0) * std::sqrt(variance / n),
                               std::sqrt(within) / n);
  const double between = std::max(0.0, variance - within / (n * normal_reach * normal_reach));
  spread.between_sd = std::sqrt(between);
  spread.share = variance > 0.0 ? between / variance : 0.0;
  return spread;
}

Series of_look(const Series& series, bool second) {
  Series part;
  for (std::size_t i = 0; i < series.size(); ++i)
    if ((series.run(i) == second_look) == second) part.add(series[i], series.run(i));
  // Where other work disturbed all samples of the first look, the second is the only one.
  return part.empty() && !second ? series : part;
}

std::optional<Estimate<double>> estimate_of_two_looks(const Series& series) {
  const Series second = of_look(series, true);
  if (second.empty() || second.size() == series.size()) return std::nullopt;
  Estimate<double> result = series_estimate(of_look(series, false));
  const Estimate<double> again = series_estimate(second);
  if (again.low() > result.high() || again.high() < result.low())
    result.interval =
        Interval<double>{std::min(result.low(), again.value), std::max(result.high(), again.value)};
  return result;
}

Estimate<double> series_estimate(const Series& series) {
  if (const auto looks = estimate_of_two_looks(series)) return *looks;
  if (const auto runs = run_spread(series)) {
    const double centre = *median(runs->medians);
    Estimate<double> result{centre, std::nullopt, series.size()};
    if (runs->half_width < centre)
      result.interval = Interval<double>{centre - runs->half_width, centre + runs->half_width};
    return result;
  }
  Estimate<double> result = median_estimate(series);
  const auto n = static_cast<double>(series.size());
  const double effective = autocorrelation(series).effective;
  if (!result.interval || effective >= n) return result;
  const double t = student_t_two_sided(confidence, effective - 1.0);
  // The i-th of n sorted samples, from 0, is taken for the quantile (i + 1/2) / n.
  const double rank = n * (0.5 - t / (2.0 * std::sqrt(effective))) - 0.5;
  if (rank >= 0.0) {
    const double p = rank / (n - 1.0);
    result.interval = Interval<double>{*quantile(series, p), *quantile(series, 1.0 - p)};
    return result;
  }
  // The interquartile range of a normal is 1.349 sigma.
  const double sigma = (*quantile(series, 0.75) - *quantile(series, 0.25)) / 1.349;
  const double width = std::sqrt(std::numbers::pi / 2.0 / (effective - 1.0)) * t * sigma;
  result.interval = Interval<double>{result.value - width, result.value + width};
  // With two or three effective samples t is beyond reason. Half the range of many samples beyond
  // them is enough: that covers the median of AR(1) series of 60 and 100 samples as often
  // (correlation 0.8 to 0.95, 1,500 series each), and of a rate that a power limiter swings,
  // always.
  constexpr std::size_t many = 50;
  if (series.size() >= many) {
    const auto [least, most] = std::ranges::minmax(series);
    const double beyond = 0.5 * (most - least);
    result.interval->low = std::max(result.interval->low, least - beyond);
    result.interval->high = std::min(result.interval->high, most + beyond);
  }
  if (result.interval->low <= 0.0) result.interval.reset();
  return result;
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

MedianResampler::MedianResampler(const Series& samples)
    : sorted_(sorted_copy(of_look(samples, false))),
      effective_(autocorrelation(of_look(samples, false)).effective),
      median_(median_estimate(sorted_).value),
      runs_(run_spread(samples)) {
  if (runs_) median_ = *scaleworth::median(runs_->medians);
}

double MedianResampler::draw(std::mt19937_64& random) const {
  if (runs_) {
    const auto degrees = static_cast<double>(runs_->medians.size()) - 1.0;
    const double error = runs_->half_width / median_ / student_t_two_sided(confidence, degrees);
    // Student's t of one degree of freedom has no bound.
    return median_ *
           std::exp(std::clamp(error * std::student_t_distribution(degrees)(random), -1.0, 1.0));
  }
  const std::size_t n = sorted_.size();
  std::gamma_distribution<double> gamma((effective_ + 1.0) / 2.0, 1.0);
  const double below = gamma(random);
  const double position = below / (below + gamma(random)) * static_cast<double>(n);
  return sorted_[std::min(static_cast<std::size_t>(position), n - 1)];
}

std::optional<Interval<double>> percentile_interval(std::span<const double> draws) {
  // Of fewer the 2.5 % quantiles are the outermost draws themselves.
  if (draws.size() < 20) return std::nullopt;
  return Interval<double>{*quantile(draws, half_outside), *quantile(draws, 1.0 - half_outside)};
}

std::optional<Interval<double>> hull(const std::optional<Interval<double>>& a,
                                     const std::optional<Interval<double>>& b) {
  if (!a) return b;
  if (!b) return a;
  return Interval<double>{std::min(a->low, b->low), std::max(a->high, b->high)};
}

SampleVariance SampleVariance::pooled(const SampleVariance& other) const {
  const double all = degrees + other.degrees;
  if (!(all > 0.0)) return {};
  return {(variance * degrees + other.variance * other.degrees) / all, all};
}

Moments moments_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Moments found{std::reduce(values.begin(), values.end()) / n, {0.0, n - 1.0}};
  for (const double one : values)
    found.of_one.variance += std::pow(one - found.mean, 2) / std::max(1.0, n - 1.0);
  return found;
}

double median_variance(double n) {
  return n > 2.0 ? std::numbers::pi / (2.0 * n + std::numbers::pi - 2.0) : 1.0 / n;
}

SampleVariance variance_prior(std::span<const SampleVariance> samples) {
  std::vector<double> centred;
  double scatter_by_chance = 0.0;
  double all_degrees = 0.0;
  for (const SampleVariance& sample : samples) {
    if (!(sample.variance > 0.0) || !(sample.degrees > 0.0)) continue;
    const double half = 0.5 * sample.degrees;
    centred.push_back(std::log(sample.variance) - Eigen::numext::digamma(half) + std::log(half));
    scatter_by_chance += trigamma(half);
    all_degrees += sample.degrees;
  }
  if (centred.size() < least_samples) return {};
  const auto count = static_cast<double>(centred.size());
  const auto [mean, scatter] = moments_of(centred);
  const double excess = scatter.variance - scatter_by_chance / count;
  if (excess <= 0.0) return {std::exp(mean), all_degrees};
  const double half = trigamma_inverse(excess);
  const double log_variance = mean + Eigen::numext::digamma(half) - std::log(half);
  return {std::exp(log_variance), std::min(2.0 * half, all_degrees)};
}

SampleVariance moderated(const SampleVariance& sample, const SampleVariance& prior) {
  const SampleVariance both = sample.pooled(prior);
  return {std::max(sample.variance, both.variance), both.degrees};
}
}  // namespace scaleworth
