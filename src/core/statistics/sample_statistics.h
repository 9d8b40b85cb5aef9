// SPDX-License-Identifier: Apache-2.0
/// Median, quantiles, autocorrelation, intervals, ratios, Student's t, resampling; what
/// the variances of many small samples say of each one's.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

#include <map>
#include <optional>
#include <random>
#include <span>

namespace scaleworth {
/// Quantile by linear interpolation between order statistics (type 7 of Hyndman & Fan 1996).
/// Absent for no samples; the sample itself for one. `p` in [0, 1]. Samples must be finite.
std::optional<double> quantile(std::span<const double> samples, double p);

/// quantile(samples, 0.5).
std::optional<double> median(std::span<const double> samples);

/// Sigma of a normal over its median absolute deviation, 1 / 0.6745.
inline constexpr double sigma_per_mad = 1.4826;

/// Distribution-free 95 % interval of the median from two order statistics: [x(r), x(n+1-r)] with
/// the largest r whose coverage 1 - 2 P(Binomial(n, 1/2) < r) reaches 95 %. Absent when even [min,
/// max] does not reach it (n < 6). Assumes independent samples. Source: David & Nagaraja, Order
/// Statistics, 3rd ed., section 7.1.
std::optional<Interval<double>> median_interval(std::span<const double> samples);

/// Median with its order-statistic 95 % interval. Throws std::invalid_argument for no samples.
Estimate<double> median_estimate(std::span<const double> samples);

/// How far the samples of one measurement, in the order taken, repeat each other.
struct Autocorrelation {
  /// Of ranks at lag 1, corrected for its bias in a short series of AR(1), r -> (n r + 1) / (n - 4)
  /// (Marriott & Pope, Biometrika 41, 1954); 0 for equal samples and for fewer than 6.
  double lag1 = 0.0;
  /// Independent samples that hold as much information: n / tau, 2 at least. tau is the larger of
  /// (1 + lag1) / (1 - lag1) and the initial positive sequence (Geyer, Statistical Science 7,
  /// 1992), 1 at least. Below 20 samples 0.75 standard errors are added to lag1 in tau.
  double effective = 0.0;
};
Autocorrelation autocorrelation(std::span<const double> series);

/// Median with a 95 % interval that allows for autocorrelation and for `StoppingRule`. Without
/// autocorrelation that of `median_estimate`; else the samples' quantiles 1/2 +- t / (2 sqrt(m)),
/// m = effective samples, t of m - 1 degrees of freedom; where these lie outside the samples, the
/// median +- sqrt(pi / (2 (m - 1))) t sigma, sigma = interquartile range / 1.349 (as of a normal).
/// Absent for fewer than 6 samples and where it would reach down to 0. Positive samples; throws
/// std::invalid_argument for none.
/// With the stopping rule 92 to 98 % of these intervals cover the median from 20 samples on, of
/// AR(1) up to rho 0.9 (tests/benchmarks/accuracy_intervals.cpp). Fewer than some 200 samples hide
/// slow noise of which neighbours show little; then 70 % cover.
///
/// Of several runs: the median over the runs' medians. Its interval is of random effects, the wider
/// one of +- f t s / sqrt(N), t of N - 1 degrees of freedom, s = standard deviation of the N
/// medians (a spread between runs and within them: Searle, Casella & McCulloch, Variance Components
/// (1992), section 3.6), and of the pooled one of the runs' own intervals, f sqrt(sum h^2) / N, h =
/// half their widths. f = sqrt(pi N / (2 N + pi - 2)), 1 for two: a median's standard error over a
/// mean's (normal medians, within 9 %). Of normal runs of 25
/// samples 94 to 97 % cover where runs differ as samples do or more, 99 % where they do not differ.
Estimate<double> series_estimate(const Series& series);

/// Both looks of a run are of that run.
std::map<int, std::vector<double>> by_run(const Series& series);

/// In place of a run's number, in run.json 0: what was taken at the end of the only one, to see
/// whether it changed meanwhile.
inline constexpr int second_look = -1;
/// The samples of a second look, or all others; where there are no others, all.
Series of_look(const Series& series, bool second);

/// The estimate of the first of a run's two looks, its interval widened to the value of the second
/// where the two intervals have nothing in common: the machine changed meanwhile. (That of a few
/// samples reaches to their extremes.) Absent for other series.
std::optional<Estimate<double>> estimate_of_two_looks(const Series& series);

/// How far runs differ more than the samples within them explain. Absent for less than two runs.
struct RunSpread {
  std::vector<double> medians;  // of the runs, in their order
  double half_width = 0.0;      // of the interval of the median over the runs
  double between_sd = 0.0;      // of the runs, less what is from within them
  double share = 0.0;           // between_sd^2 of the variance of the runs' medians
};
std::optional<RunSpread> run_spread(const Series& series);

/// a / b of two independent positive estimates. The interval combines the two in logarithms,
///   ln low  = ln(a/b) - sqrt(ln^2(a / a.low)  + ln^2(b.high / b)),
///   ln high = ln(a/b) + sqrt(ln^2(a.high / a) + ln^2(b / b.low)),
/// which keeps both intervals' asymmetry and needs no distribution ("MOVER": Zou & Donner,
/// Statistics in Medicine 27, 2008; square-and-add: Newcombe 1998). Its confidence is that of the
/// intervals given. Absent when either has none (a factor that is known exactly belongs into
/// `transform`) or reaches down to 0. The sample count is the smaller one.
/// Throws std::invalid_argument for values that are not positive and finite.
Estimate<double> ratio(const Estimate<double>& a, const Estimate<double>& b);

/// The same for quantities; like over like is a plain number.
template <int S1, int B1, int F1, int D1, int S2, int B2, int F2, int D2>
auto ratio(const Estimate<Quantity<S1, B1, F1, D1>>& a,
           const Estimate<Quantity<S2, B2, F2, D2>>& b) {
  using Result = decltype(a.value / b.value);
  const auto number = [](auto quantity) { return quantity.value(); };
  return transform(ratio(transform(a, number), transform(b, number)),
                   [](double value) { return Result(value); });
}

/// The t with P(|T| <= t) = `confidence` for `degrees_of_freedom` > 0; 0 < confidence < 1, else
/// std::invalid_argument. Solved by bisection from P(|T| > t) = I_{v/(v + t^2)}(v/2, 1/2), the
/// regularised incomplete beta function (Abramowitz & Stegun 26.7.1).
double student_t_two_sided(double confidence, double degrees_of_freedom);

/// P(T <= t) for `degrees_of_freedom` > 0, else std::invalid_argument.
double student_t_below(double t, double degrees_of_freedom);

/// Draws medians of resamples (with replacement) of a series in constant time: the median of n
/// uniform ranks is Beta((n+1)/2, (n+1)/2) distributed (exact for odd n; David & Nagaraja, Order
/// Statistics, 3rd ed., section 2.1), n = its effective samples. One sample gives itself every
/// time. Of several runs: of the t distribution of `series_estimate`, in logarithms.
class MedianResampler {
 public:
  /// Throws std::invalid_argument for no samples.
  explicit MedianResampler(const Series& samples);
  double draw(std::mt19937_64& random) const;
  /// The median of the samples themselves.
  double median() const { return median_; }

 private:
  std::vector<double> sorted_;
  double effective_;
  double median_;
  std::optional<RunSpread> runs_;
};

/// The central 95 % of bootstrap draws (percentile method). Absent for fewer than 20 draws.
std::optional<Interval<double>> percentile_interval(std::span<const double> draws);

/// The smallest interval that contains both; absent when both are.
std::optional<Interval<double>> hull(const std::optional<Interval<double>>& a,
                                     const std::optional<Interval<double>>& b);

/// Of one sample, or what is expected of one: `degrees` says how well it is known.
struct SampleVariance {
  double variance = 0.0;
  double degrees = 0.0;

  /// Of both where they have one true variance: the mean, each weighted with its degrees.
  SampleVariance pooled(const SampleVariance& other) const;
};

/// Of values, at least one; without degrees for one.
struct Moments {
  double mean = 0.0;
  SampleVariance of_one;
};
Moments moments_of(std::span<const double> values);

/// Of the median of `n` independent normal values, over the variance of one: pi / (2 n + pi - 2),
/// the asymptotic pi / 2 n made exact for one value. Within 3 % of the exact variance for an odd n,
/// up to 15 % above it for an even one; 1 / n up to two, whose median is the mean.
double median_variance(double n);

/// The prior of the true variances, scaled inverse chi-square: `variance` with as many `degrees` as
/// the samples' variances agree. By the moments of ln s^2 (Smyth 2004, Statistical Applications in
/// Genetics and Molecular Biology 3, article 3, section 6.2); where they scatter no more than
/// chance makes them, all samples have one variance, known with the degrees of all. No degrees
/// (they say nothing of each other) for fewer than four samples with a variance above 0.
SampleVariance variance_prior(std::span<const SampleVariance> samples);

/// One sample's variance in the light of the prior, with the degrees of both: the weighted mean,
/// but never less than the sample itself showed, so that noise of a kind that the others do not
/// have is not taken for less.
SampleVariance moderated(const SampleVariance& sample, const SampleVariance& prior);
}  // namespace scaleworth
