// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/interval.h"

#include "src/core/statistics/quantile.h"
#include "tests/catch.h"

#include <random>
#include <stdexcept>
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
  REQUIRE_FALSE(median_absolute_deviation({}));
  REQUIRE(quantile(std::vector<double>{7.0}, 0.9) == 7.0);
  REQUIRE(median_absolute_deviation(std::vector<double>{7.0}) == 0.0);
  REQUIRE(quantile(std::vector<double>(5, 7.0), 0.3) == 7.0);
  REQUIRE(median_absolute_deviation(std::vector<double>(5, 7.0)) == 0.0);
}

TEST_CASE("the median absolute deviation ignores one wild sample", "[statistics]") {
  // Median 3, deviations 2 1 0 1 97, their median 1.
  REQUIRE(median_absolute_deviation(std::vector<double>{1, 2, 3, 4, 100}) == 1.0);
}

TEST_CASE("five samples support no 95 % interval of the median, six give their range",
          "[statistics]") {
  // [min, max] covers with 1 - 2 * 0.5^n: 0.9375 for n = 5, 0.96875 for n = 6.
  REQUIRE_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  const auto six = median_interval(std::vector<double>{6, 5, 4, 3, 2, 1});
  REQUIRE(six->low == 1.0);
  REQUIRE(six->high == 6.0);
  REQUIRE(median_interval(std::vector<double>{6, 5, 4, 3, 2, 1}, 0.9687));
  REQUIRE_FALSE(median_interval(std::vector<double>{6, 5, 4, 3, 2, 1}, 0.9688));
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

TEST_CASE("the bootstrap is repeatable, absent for one sample and closed for equal ones",
          "[statistics]") {
  const auto statistic = [](std::span<const double> samples) { return median(samples); };
  const std::vector<double> samples{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto first = bootstrap_interval(samples, statistic);
  const auto second = bootstrap_interval(samples, statistic);
  REQUIRE(first->low == second->low);
  REQUIRE(first->low < 5.0);
  REQUIRE(first->high > 5.0);
  REQUIRE_FALSE(bootstrap_interval(std::vector<double>{1.0}, statistic));
  REQUIRE(bootstrap_interval(std::vector<double>(4, 2.0), statistic)->high == 2.0);
}

TEST_CASE("a statistic that is mostly absent has no bootstrap interval", "[statistics]") {
  const auto absent = [](std::span<const double>) { return std::optional<double>(); };
  REQUIRE_FALSE(bootstrap_interval(std::vector<double>{1, 2, 3}, absent));
}
