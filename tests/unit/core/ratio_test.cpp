// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/ratio.h"

#include "src/core/statistics/interval.h"
#include "tests/catch.h"

#include <cmath>
#include <random>
#include <stdexcept>
#include <type_traits>

using namespace scaleworth;

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
