// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"

#include "tests/catch.h"

#include <cmath>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace scaleworth;

TEST_CASE("quantiles interpolate between order statistics", "[statistics]") {
  // Type 7: position p (n - 1). 0.25 * 3 = 0.75 -> 1 + 0.75 (2 - 1) = 1.75.
  const std::vector<double> samples{4, 1, 3, 2};
  REQUIRE(quantile(samples, 0.25) == 1.75);
  REQUIRE(median(samples) == 2.5);
  REQUIRE(quantile(samples, 0.0) == 1.0);
  REQUIRE(quantile(samples, 1.0) == 4.0);
}

TEST_CASE("quantiles are absent for no samples and defined for one and for equal ones",
          "[statistics]") {
  REQUIRE_FALSE(median({}));
  REQUIRE(quantile(std::vector<double>{7.0}, 0.9) == 7.0);
  REQUIRE(quantile(std::vector<double>(5, 7.0), 0.3) == 7.0);
}

TEST_CASE("five samples support no 95 % interval of the median, six give their range",
          "[statistics]") {
  // [min, max] covers with 1 - 2 * 0.5^n: 0.9375 for n = 5, 0.96875 for n = 6.
  REQUIRE_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  const auto six = median_interval(std::vector<double>{6, 5, 4, 3, 2, 1});
  REQUIRE(six->low == 1.0);
  REQUIRE(six->high == 6.0);
}

TEST_CASE("a hundred samples take the 40th and the 61st", "[statistics]") {
  // Tables of order-statistic intervals (Conover 1999, A3): n = 100, ranks 40 and 61 at 95 %.
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i) samples.push_back(i);
  const auto interval = median_interval(samples);
  REQUIRE(interval->low == 40.0);
  REQUIRE(interval->high == 61.0);
}

TEST_CASE("the median of one sample is that sample without an interval", "[statistics]") {
  const auto estimate = median_estimate(std::vector<double>{3.0});
  REQUIRE(estimate.value == 3.0);
  REQUIRE_FALSE(estimate.interval);
  REQUIRE(estimate.samples == 1);
  REQUIRE_THROWS_AS(median_estimate({}), std::invalid_argument);
}

TEST_CASE("equal samples have a closed interval", "[statistics]") {
  const auto estimate = median_estimate(std::vector<double>(8, 3.0));
  REQUIRE(estimate.interval->low == 3.0);
  REQUIRE(estimate.interval->high == 3.0);
}

TEST_CASE("the order-statistic interval works for many thousand samples", "[statistics]") {
  // 0.5^n underflows here; half-width about 0.98 sqrt(n) ranks: 10000 -> 4902 and 5099.
  std::vector<double> samples;
  for (int i = 1; i <= 10000; ++i) samples.push_back(i);
  REQUIRE_THAT(median_interval(samples)->low, WithinAbs(4902, 1.0));
  REQUIRE_THAT(median_interval(samples)->high, WithinAbs(5099, 1.0));
}

TEST_CASE("the interval of the median covers the truth in 2000 skewed repeats", "[statistics]") {
  // Median of the lognormal: 1. Nominal coverage at n = 15 is 0.9648 (ranks 4 and 12):
  // Binomial(2000, 0.9648): mean 1930, sd 8.2.
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> noise(0.0, 0.5);
  int covered = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<double> samples(15);
    for (double& sample : samples) sample = noise(random);
    const auto interval = median_interval(samples);
    covered += interval->low <= 1.0 && 1.0 <= interval->high ? 1 : 0;
  }
  REQUIRE(covered >= 1900);  // the 95 % asked for
  REQUIRE(covered <= 1960);  // and not by being far too wide
}

namespace {
/// `pattern` over and over, 20 values.
std::vector<double> twenty(const std::vector<double>& pattern) {
  std::vector<double> series;
  for (std::size_t i = 0; i < 20; ++i) series.push_back(pattern[i % pattern.size()]);
  return series;
}
}  // namespace

TEST_CASE("the autocorrelation of a short series is corrected for its bias", "[statistics]") {
  // Ranks less their mean are -5, -5, 5, 5, ...: squares 500; of 19 neighbours 10 are equal and 9
  // opposite, r = 25 / 500; (20 * 0.05 + 1) / 16 = 0.125; tau = 1.125 / 0.875.
  const Autocorrelation pairs = autocorrelation(twenty({1.0, 1.0, 7.0, 7.0}));
  REQUIRE_THAT(pairs.lag1, WithinAbs(0.125, 1e-12));
  REQUIRE_THAT(pairs.effective, WithinAbs(20.0 * 0.875 / 1.125, 1e-12));
}

TEST_CASE("two levels one after the other are two effective samples", "[statistics]") {
  std::vector<double> levels(20, 1.0);
  for (std::size_t i = 10; i < 20; ++i) levels[i] = 2.0;
  REQUIRE(autocorrelation(levels).effective == 2.0);
}

TEST_CASE("equal samples and fewer than six have no autocorrelation", "[statistics]") {
  REQUIRE(autocorrelation(std::vector<double>(30, 2.5)).effective == 30.0);
  REQUIRE(autocorrelation(std::vector<double>{1, 2, 3, 4, 5}).lag1 == 0.0);
  REQUIRE(autocorrelation({}).effective == 0.0);
}

TEST_CASE("slow noise under fast noise is seen although neighbours agree little", "[statistics]") {
  // x = sqrt(1/2) AR(1) of rho 0.95 + sqrt(1/2) white: lag 1 is 0.475, which alone gives tau = 2.8;
  // the sum over all lags is tau = 1 + 2 * 0.475 / 0.05 = 20.
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise;
  std::vector<double> series;
  double slow = noise(random);
  for (int i = 0; i < 4000; ++i) {
    slow = 0.95 * slow + std::sqrt(1.0 - 0.95 * 0.95) * noise(random);
    series.push_back(slow + noise(random));
  }
  REQUIRE_THAT(autocorrelation(series).lag1, WithinAbs(0.475, 0.06));
  REQUIRE(autocorrelation(series).effective < 4000.0 / 12.0);
}

TEST_CASE("the interval of a series without autocorrelation is that of independent samples",
          "[statistics]") {
  const std::vector<double> series = twenty({1.0, 4.0, 2.0, 3.0});
  REQUIRE(autocorrelation(series).effective == 20.0);
  REQUIRE(series_estimate(series).interval->low == median_estimate(series).interval->low);
  REQUIRE(series_estimate(series).interval->high == median_estimate(series).interval->high);
}

TEST_CASE("the interval of two levels is wider than their range, or absent where it reaches zero",
          "[statistics]") {
  // 2 effective samples, t of one degree of freedom 12.706, sigma = 0.02 / 1.349:
  // sqrt(pi / 2) * 12.706 * 0.014826 = 0.23610.
  std::vector<double> levels(20, 1.0);
  for (std::size_t i = 10; i < 20; ++i) levels[i] = 1.02;
  const Estimate<double> estimate = series_estimate(levels);
  REQUIRE_THAT(estimate.interval->low, WithinAbs(1.01 - 0.23610, 1e-4));
  REQUIRE_THAT(estimate.interval->high, WithinAbs(1.01 + 0.23610, 1e-4));
  for (std::size_t i = 10; i < 20; ++i) levels[i] = 1.2;
  REQUIRE_FALSE(series_estimate(levels).interval);
  REQUIRE(series_estimate(levels).value == 1.1);
}

TEST_CASE("resampled medians of a correlated series spread as those of its effective samples",
          "[resample]") {
  std::vector<double> rising;
  for (int i = 0; i < 200; ++i) rising.push_back(i);
  std::vector<double> mixed;
  for (int i = 0; i < 200; ++i) mixed.push_back((i * 73) % 200);
  const auto spread = [](const std::vector<double>& samples) {
    std::mt19937_64 random(1);
    const MedianResampler resampler(samples);
    std::vector<double> draws(2000);
    for (double& draw : draws) draw = resampler.draw(random);
    return percentile_interval(draws)->high - percentile_interval(draws)->low;
  };
  // Independent: 4 * 0.5 / sqrt(200) of 200, 28; two effective samples: most of the range.
  REQUIRE(spread(mixed) < 40.0);
  REQUIRE(spread(rising) > 120.0);
}

TEST_CASE("a ratio without intervals is exact and has none", "[statistics]") {
  const auto speedup = ratio({6.0, std::nullopt, 5}, {2.0, std::nullopt, 3});
  REQUIRE(speedup.value == 3.0);
  REQUIRE_FALSE(speedup.interval);
  REQUIRE(speedup.samples == 3);
}

TEST_CASE("a ratio has no interval when one of the two has none or reaches zero", "[statistics]") {
  const Estimate<double> known{6.0, Interval<double>{5.0, 7.0}, 9};
  REQUIRE_FALSE(ratio(known, {2.0, std::nullopt, 9}).interval);
  REQUIRE_FALSE(ratio(known, {2.0, Interval<double>{0.0, 3.0}, 9}).interval);
}

TEST_CASE("relative uncertainties add in quadrature", "[statistics]") {
  // Factors e^0.03 and e^0.04 either way: sqrt(0.03^2 + 0.04^2) = 0.05.
  const Estimate<double> a{4.0, Interval<double>{4 * std::exp(-0.03), 4 * std::exp(0.03)}, 9};
  const Estimate<double> b{2.0, Interval<double>{2 * std::exp(-0.04), 2 * std::exp(0.04)}, 9};
  const auto result = ratio(a, b);
  REQUIRE_THAT(result.interval->low, WithinRel(2 * std::exp(-0.05), 1e-12));
  REQUIRE_THAT(result.interval->high, WithinRel(2 * std::exp(0.05), 1e-12));
}

TEST_CASE("the side of an uncertainty is kept and changes with the divisor", "[statistics]") {
  // Only the divisor is uncertain, and only upwards: the ratio is uncertain downwards by 2 -> 1.6.
  const auto result =
      ratio({4.0, Interval<double>{4.0, 4.0}, 9}, {2.0, Interval<double>{2.0, 2.5}, 9});
  REQUIRE_THAT(result.interval->low, WithinRel(1.6, 1e-12));
  REQUIRE_THAT(result.interval->high, WithinRel(2.0, 1e-12));
}

TEST_CASE("quantities keep their dimension", "[statistics]") {
  const Estimate<FlopPerSecond> peak{FlopPerSecond(100e9), std::nullopt, 7};
  const Estimate<BytesPerSecond> bandwidth{BytesPerSecond(20e9), std::nullopt, 7};
  const auto ridge = ratio(peak, bandwidth);
  static_assert(std::is_same_v<decltype(ridge.value), FlopPerByte>);
  REQUIRE(ridge.value.value() == 5.0);
  static_assert(std::is_same_v<decltype(ratio(peak, peak).value), double>);
}

TEST_CASE("a ratio of what is not positive is refused", "[statistics]") {
  REQUIRE_THROWS_AS(ratio({0.0, std::nullopt, 1}, {1.0, std::nullopt, 1}), std::invalid_argument);
  REQUIRE_THROWS_AS(ratio({1.0, std::nullopt, 1}, {NAN, std::nullopt, 1}), std::invalid_argument);
}

TEST_CASE("the interval of a ratio of medians covers the truth in 500 skewed repeats",
          "[statistics]") {
  // Binomial(500, 0.95): mean 475, sd 4.9; 457 is 3.7 sd below. True ratio of the medians: 3.
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> noise(0.0, 0.2);
  int covered = 0;
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<double> a(15);
    std::vector<double> b(9);
    for (double& value : a) value = 6.0 * noise(random);
    for (double& value : b) value = 2.0 * noise(random);
    const auto interval = ratio(median_estimate(a), median_estimate(b)).interval;
    covered += interval->low <= 3.0 && 3.0 <= interval->high ? 1 : 0;
  }
  CAPTURE(covered);
  REQUIRE(covered >= 457);
}

TEST_CASE("the resampled median of one sample, or of equal samples, is that sample", "[resample]") {
  std::mt19937_64 random(1);
  CHECK(MedianResampler(std::vector<double>{4.0}).draw(random) == 4.0);
  CHECK(MedianResampler(std::vector<double>(9, 2.5)).draw(random) == 2.5);
  CHECK_THROWS_AS(MedianResampler({}), std::invalid_argument);
}

TEST_CASE("the resampled median of 0, 0, 1 is 1 in 7 of 27 resamples", "[resample]") {
  // P(at least two of three draws hit the 1) = 3 (1/3)^2 (2/3) + (1/3)^3 = 7/27 = 0.2593.
  std::mt19937_64 random(1);
  const MedianResampler resampler(std::vector<double>{0.0, 0.0, 1.0});
  double ones = 0.0;
  for (int i = 0; i < 200000; ++i) ones += resampler.draw(random);
  CHECK_THAT(ones / 200000.0, WithinAbs(7.0 / 27.0, 0.004));  // four standard errors of 0.001
}

TEST_CASE("the hull of an absent interval is the other one", "[resample]") {
  const Interval<double> known{1.0, 2.0};
  CHECK(hull(std::nullopt, known)->low == 1.0);
  CHECK(hull(known, Interval<double>{0.5, 1.5})->low == 0.5);
  CHECK(hull(known, Interval<double>{0.5, 1.5})->high == 2.0);
  CHECK_FALSE(hull(std::nullopt, std::nullopt).has_value());
}

TEST_CASE("Student's t matches the printed table", "[statistics]") {
  // Two-sided 95 %: Abramowitz & Stegun table 26.10, three decimals.
  REQUIRE_THAT(student_t_two_sided(0.95, 1), WithinAbs(12.706, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.95, 4), WithinAbs(2.776, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.95, 30), WithinAbs(2.042, 5e-4));
  REQUIRE_THAT(student_t_two_sided(0.99, 10), WithinAbs(3.169, 5e-4));
}

TEST_CASE("Student's t approaches the normal for many degrees of freedom", "[statistics]") {
  REQUIRE_THAT(student_t_two_sided(0.95, 1e6), WithinAbs(1.95996, 1e-5));
}

TEST_CASE("a confidence of one or no degrees of freedom is refused", "[statistics]") {
  REQUIRE_THROWS_AS(student_t_two_sided(1.0, 3), std::invalid_argument);
  REQUIRE_THROWS_AS(student_t_two_sided(0.95, 0), std::invalid_argument);
}

TEST_CASE("the distribution below a t is one half at zero and symmetric about it", "[statistics]") {
  CHECK_THAT(student_t_below(0.0, 3.0), WithinAbs(0.5, 1e-12));
  // One degree of freedom is Cauchy: 1/2 + atan(t)/pi, 3/4 at 1.
  CHECK_THAT(student_t_below(1.0, 1.0), WithinAbs(0.75, 1e-9));
  CHECK_THAT(student_t_below(-1.0, 1.0), WithinAbs(0.25, 1e-9));
  CHECK_THAT(student_t_below(student_t_two_sided(0.95, 7.0), 7.0), WithinAbs(0.975, 1e-9));
  CHECK_THROWS_AS(student_t_below(1.0, 0.0), std::invalid_argument);
}

TEST_CASE("a second look widens an interval only where both have nothing in common",
          "[statistics]") {
  const std::vector<double> first{1.00, 1.01, 0.99, 1.02, 0.98, 1.00, 1.01, 0.99};
  const auto with = [&](double level) {
    Series series;
    for (const double one : first) series.add(one, 0);
    for (const double one : first) series.add(level * one, second_look);
    return series;
  };
  const Estimate<double> alone = series_estimate(first);
  const Estimate<double> same = series_estimate(with(1.005));
  CHECK(same.value == alone.value);
  CHECK(same.interval->high == alone.interval->high);
  const Estimate<double> changed = series_estimate(with(1.8));
  CHECK(changed.value == alone.value);
  CHECK(changed.interval->low == alone.interval->low);
  CHECK_THAT(changed.interval->high, WithinRel(1.8 * alone.value, 1e-12));
  CHECK_THAT(series_estimate(with(0.5)).interval->low, WithinRel(0.5 * alone.value, 1e-12));
  CHECK_FALSE(run_spread(with(1.8)));
  CHECK(MedianResampler(with(1.8)).median() == alone.value);
  // All samples of the first look can be disturbed and left out.
  Series rest;
  for (const double one : first) rest.add(one, second_look);
  CHECK(of_look(rest, false).size() == first.size());
  CHECK(series_estimate(rest).value == alone.value);
  CHECK(MedianResampler(rest).median() == alone.value);
}

TEST_CASE("an interval of several runs holds the spread between them", "[statistics]") {
  Series series;
  const std::vector<double> medians{10.0, 10.4, 9.8};
  for (int run = 1; run <= 3; ++run) {
    for (int i = -10; i <= 10; ++i) series.add(medians[run - 1] + 1e-3 * ((7 * i) % 21), run);
  }
  const Estimate<double> estimate = series_estimate(series);
  CHECK_THAT(estimate.value, WithinAbs(10.0, 1e-9));
  CHECK(estimate.samples == 63);
  // s = 0.30551, t(2) = 4.3027, f = sqrt(3 pi / (6 + pi - 2)) = 1.1488: 1.1488 * 4.3027 * s /
  // sqrt(3)
  REQUIRE(estimate.interval);
  CHECK_THAT(estimate.interval->high, WithinAbs(10.8718, 1e-3));
  const auto spread = run_spread(series);
  CHECK_THAT(spread->between_sd, WithinAbs(0.3055, 1e-3));
  CHECK(spread->share > 0.99);
  // The resampler's draws have that interval too.
  std::mt19937_64 random(1);
  const MedianResampler resampler(series);
  std::vector<double> draws;
  for (int i = 0; i < 20000; ++i) draws.push_back(resampler.draw(random));
  CHECK_THAT(percentile_interval(draws)->high, WithinAbs(10.0 * std::exp(0.08718), 0.05));
  CHECK(resampler.median() == estimate.value);

  Series same;  // runs that do not differ: the pooled interval of 21 samples each, over sqrt(3)
  for (int run = 1; run <= 3; ++run) {
    for (int i = -10; i <= 10; ++i) same.add(10.0 + 0.1 * ((7 * i) % 21), run);
  }
  const auto none = run_spread(same);
  CHECK(none->between_sd == 0.0);
  CHECK(none->half_width > 0.0);
  CHECK_FALSE(run_spread(std::vector<double>{1.0, 2.0}));
}
