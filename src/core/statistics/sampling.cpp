// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sampling.h"

#include "src/core/statistics/sample_statistics.h"

#include <bit>
#include <cmath>
#include <numeric>

namespace scaleworth {
namespace {
// See the header: fewer often hide their autocorrelation, and a width that is small by chance would
// end the series; more only costs time.
constexpr double fewest_effective = 15.0;

double relative_half_width(const Estimate<double>& estimate) {
  return (estimate.interval->high - estimate.interval->low) / 2.0 / estimate.value;
}

constexpr std::size_t largest_series = 512;  // the tests below take the square of it
constexpr double drift_significance = 0.01;  // one false warning in 100 calm series
// See the header: one normal group reaches 2.7, a uniform 3.5.
constexpr double least_ashman_d = 6.0;
constexpr double least_share = 0.1;     // fewer are outliers, no second mode
constexpr std::size_t least_group = 3;  // fewer have no spread to speak of

/// At most `largest_series` medians of consecutive blocks of nearly equal length.
std::vector<double> reduced(std::span<const double> samples) {
  const std::size_t blocks = std::min(samples.size(), largest_series);
  std::vector<double> medians;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * samples.size() / blocks;
    const std::size_t end = (block + 1) * samples.size() / blocks;
    medians.push_back(*median(samples.subspan(begin, end - begin)));
  }
  return medians;
}

struct Trend {
  double slope = 0.0;  // per sample
  double p_value = 1.0;
};

/// Sum of t (t - 1) (2 t + 5) over groups of t equal values.
double tie_correction(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double correction = 0.0;
  for (auto group = values.begin(); group != values.end();) {
    const auto next = std::upper_bound(group, values.end(), *group);
    const auto ties = static_cast<double>(next - group);
    correction += ties * (ties - 1.0) * (2.0 * ties + 5.0);
    group = next;
  }
  return correction;
}

Trend trend_of(std::vector<double> series) {
  std::vector<double> slopes;
  slopes.reserve(series.size() * (series.size() - 1) / 2);
  double concordance = 0.0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (std::size_t j = i + 1; j < series.size(); ++j) {
      const double rise = series[j] - series[i];
      concordance += rise > 0.0 ? 1.0 : (rise < 0.0 ? -1.0 : 0.0);
      slopes.push_back(rise / static_cast<double>(j - i));
    }
  }
  const auto n = static_cast<double>(series.size());
  const double variance = (n * (n - 1.0) * (2.0 * n + 5.0) - tie_correction(series)) / 18.0;
  if (variance <= 0.0 || concordance == 0.0) return {};  // equal samples
  const auto middle = slopes.begin() + (slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  for (std::size_t i = 0; i < series.size(); ++i) series[i] -= *middle * static_cast<double>(i);
  const double inflated = variance * n / autocorrelation(series).effective;
  const double z = (std::abs(concordance) - 1.0) / std::sqrt(inflated);
  return {*middle, std::erfc(z / std::sqrt(2.0))};
}

/// Two groups of sorted samples.
struct Split {
  std::size_t lower_count = 0;
  double lower_mean = 0.0;
  double upper_mean = 0.0;
  double squares = 0.0;  // within the groups, about their means
  double ashman_d = 0.0;
};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_of(std::span<const double> values, double centre) {
  return std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - centre) * (value - centre);
  });
}

Split split_at(std::span<const double> sorted, std::size_t lower_count) {
  const auto lower = sorted.first(lower_count);
  const auto upper = sorted.subspan(lower_count);
  Split split{lower_count, mean_of(lower), mean_of(upper)};
  const double lower_squares = squares_of(lower, split.lower_mean);
  const double upper_squares = squares_of(upper, split.upper_mean);
  split.squares = lower_squares + upper_squares;
  const double variances = lower_squares / static_cast<double>(lower.size() - 1) +
                           upper_squares / static_cast<double>(upper.size() - 1);
  // Infinite for two groups of equal samples: they are as apart as can be.
  split.ashman_d = (split.upper_mean - split.lower_mean) / std::sqrt(variances / 2.0);
  return split;
}

Split best_split(std::span<const double> sorted) {
  const auto share =
      static_cast<std::size_t>(std::ceil(least_share * static_cast<double>(sorted.size())));
  const std::size_t least = std::max(least_group, share);
  Split best = split_at(sorted, least);
  for (std::size_t count = least + 1; count + least <= sorted.size(); ++count) {
    const Split split = split_at(sorted, count);
    if (split.squares < best.squares) best = split;
  }
  return best;
}
}  // namespace

void StoppingRule::add(Seconds sample, Seconds spent) {
  if (!std::isfinite(sample.value()) || sample.value() <= 0.0) {
    throw ProbeFailure("a timing of {} s is no duration: the clock or the kernel is broken",
                       sample.value());
  }
  samples_.push_back(sample.value());
  spent_ += spent;
  if (finished()) return;  // the rest of a batch
  const std::size_t count = samples_.size();
  const std::size_t least = std::max<std::size_t>(1, target_.minimum_samples);
  if (count % least == 0 && std::has_single_bit(count / least)) {
    const Estimate<double> estimate = series_estimate(samples_);
    if (estimate.interval && relative_half_width(estimate) <= target_.relative_half_width &&
        autocorrelation(samples_).effective >= fewest_effective) {
      reason_ = Reason::converged;
      return;
    }
  }
  if (count >= target_.maximum_samples) reason_ = Reason::maximum_samples;
  // Few samples may cost more than the budget; the minimum is then given up, which the stop reason
  // names.
  const bool enough = count >= std::min(least, fewest_samples);
  if (spent_ >= (enough ? 1.0 : 4.0) * target_.time_budget) reason_ = Reason::time_budget;
}

Finding StoppingRule::explanation() const {
  const std::size_t count = samples_.size();
  Finding width(FindingId::samples_too_few, count);
  if (count >= fewest_samples) {
    const Estimate<double> estimate = series_estimate(samples_);
    const Autocorrelation correlation = autocorrelation(samples_);
    if (estimate.interval)
      width = {FindingId::median_within, relative_half_width(estimate)};
    else
      width = FindingId::median_without_interval;
    width = {FindingId::samples_taken, width, count, correlation.effective, correlation.lag1};
  }
  switch (reason_) {
    case Reason::running:
      break;
    case Reason::converged:
      return {FindingId::sampling_converged, width};
    case Reason::maximum_samples:
      return {FindingId::sampling_at_maximum, target_.maximum_samples, width};
    case Reason::time_budget:
      return {FindingId::sampling_out_of_time, target_.time_budget.value(), width};
  }
  return {FindingId::sampling_not_finished, count};
}

std::optional<Finding> drift_warning(std::span<const double> samples) {
  if (samples.size() < least_samples_for_warnings) return std::nullopt;
  const std::vector<double> series = reduced(samples);
  const Trend trend = trend_of(series);
  const double change = trend.slope * static_cast<double>(series.size() - 1) / *median(samples);
  if (trend.p_value >= drift_significance || !(std::abs(change) >= least_effect))
    return std::nullopt;
  return Finding(change > 0.0 ? FindingId::samples_rise : FindingId::samples_fall,
                 std::abs(change),
                 samples.size(),
                 trend.p_value);
}

std::optional<Finding> bimodality_warning(std::span<const double> samples) {
  if (samples.size() < least_samples_for_warnings) return std::nullopt;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() == sorted.back()) return std::nullopt;
  if (sorted.size() > largest_series) sorted = reduced(sorted);
  const double centre = *median(sorted);
  const Split split = best_split(sorted);
  const double apart = (split.upper_mean - split.lower_mean) / centre;
  if (!(split.ashman_d >= least_ashman_d) || !(apart >= least_effect)) return std::nullopt;
  const double lower_share =
      static_cast<double>(split.lower_count) / static_cast<double>(sorted.size());
  const Finding clarity = std::isfinite(split.ashman_d)
                              ? Finding(FindingId::modes_apart, split.ashman_d)
                              : Finding(FindingId::modes_without_spread);
  return Finding(FindingId::two_modes,
                 lower_share,
                 samples.size(),
                 split.lower_mean / centre,
                 1.0 - lower_share,
                 split.upper_mean / centre,
                 clarity);
}

std::vector<Finding> sample_warnings(std::span<const double> samples) {
  std::vector<Finding> warnings;
  for (const auto& warning : {drift_warning(samples), bimodality_warning(samples)}) {
    if (warning) warnings.push_back(*warning);
  }
  return warnings;
}

double curve_noise(std::span<const double> logs) {
  constexpr double quartile_of_normal = 0.3186;  // lower quartile of |N(0, 1)|
  if (logs.size() < 4) return 0.0;
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 1; i < logs.size(); ++i) first.push_back(std::abs(logs[i] - logs[i - 1]));
  for (std::size_t i = 2; i < logs.size(); ++i) {
    second.push_back(std::abs(logs[i] - 2.0 * logs[i - 1] + logs[i - 2]));
  }
  // Differences of independent errors have variance 2 sigma^2 and 6 sigma^2.
  return std::min(*quantile(first, 0.25) / std::sqrt(2.0),
                  *quantile(second, 0.25) / std::sqrt(6.0)) /
         quartile_of_normal;
}
}  // namespace scaleworth
