// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/resample.h"

#include "tests/catch.h"

#include <stdexcept>

using namespace scaleworth;

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
