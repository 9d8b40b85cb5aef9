// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/robust.h"

#include "tests/catch.h"

namespace scaleworth::trace {
namespace {

using Catch::Matchers::WithinAbs;

TEST_CASE("A weighted quantile is where that share of the weight is reached") {
  const std::vector<WeightedValue> values = {{30.0, 1.0}, {10.0, 1.0}, {20.0, 2.0}};
  CHECK(weighted_quantile(values, 0.25) == 10.0);
  CHECK(weighted_quantile(values, 0.5) == 20.0);
  CHECK(weighted_quantile(values, 0.76) == 30.0);
  CHECK_FALSE(weighted_quantile({}, 0.5));
}

TEST_CASE("The location of most values ignores the one that is far away") {
  const auto location =
      robust_location({{9.0, 1.0}, {10.0, 1.0}, {11.0, 1.0}, {10.0, 1.0}, {5000.0, 1.0}});
  REQUIRE(location);
  // Median 10; absolute deviations 1 0 1 0 4990, of which the median is 1.
  CHECK(location->center == 10.0);
  CHECK_THAT(location->scale, WithinAbs(1.4826, 1e-9));
  CHECK_FALSE(robust_location({}));
}

TEST_CASE("A slope is found through outliers, exactly for an exact line") {
  std::vector<WeightedValue> values;
  for (int i = 0; i < 20; ++i) values.push_back({3.0 + 0.5 * i, 1.0 + i % 3, 1.0 * i});
  const auto exact = huber_slope(values);
  REQUIRE(exact);
  CHECK_THAT(exact->slope, WithinAbs(0.5, 1e-9));
  CHECK(exact->span == 19.0);
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)].value += i % 2 == 0 ? 0.1 : -0.1;
  values[10].value += 1000.0;
  const auto noisy = huber_slope(values);
  REQUIRE(noisy);
  CHECK_THAT(noisy->slope, WithinAbs(0.5, 5.0 * noisy->standard_error));
  CHECK_THAT(noisy->slope, WithinAbs(0.5, 0.05));
}

TEST_CASE("A slope needs three values at different places") {
  CHECK_FALSE(huber_slope({{1.0, 1.0, 0.0}, {2.0, 1.0, 1.0}}));
  CHECK_FALSE(huber_slope({{1.0, 1.0, 4.0}, {2.0, 1.0, 4.0}, {3.0, 1.0, 4.0}}));
}

}  // namespace
}  // namespace scaleworth::trace
