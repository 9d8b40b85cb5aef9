// SPDX-License-Identifier: Apache-2.0
#include "src/core/units.h"

#include "tests/catch.h"

#include <type_traits>

using namespace scaleworth;

TEST_CASE("bytes over seconds are a bandwidth and times seconds are bytes again", "[units]") {
  const BytesPerSecond rate = Bytes(8e9) / Seconds(2.0);
  REQUIRE(rate.value() == 4e9);
  REQUIRE((rate * Seconds(0.5)).value() == 2e9);
}

TEST_CASE("peak over bandwidth is an intensity, and like over like a plain number", "[units]") {
  const FlopPerByte ridge = FlopPerSecond(100e9) / BytesPerSecond(20e9);
  REQUIRE(ridge.value() == 5.0);
  static_assert(std::is_same_v<decltype(Seconds(1.0) / Seconds(2.0)), double>);
  REQUIRE(Seconds(1.0) / Seconds(2.0) == 0.5);
}

TEST_CASE("a price per hour times seconds is money", "[units]") {
  // 3.60 USD/h for 1000 s: 3.60 * 1000 / 3600 = 1.00 USD
  REQUIRE_THAT((dollars_per_hour(3.6) * Seconds(1000.0)).value(), WithinRel(1.0, 1e-12));
}

TEST_CASE("doubles beyond an integer's range become its nearest end", "[units]") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  CHECK(saturated<int>(2147483646.9) == 2147483646);
  CHECK(saturated<int>(2147483647.0) == 2147483647);
  CHECK(saturated<int>(-2147483648.0) == std::numeric_limits<int>::min());
  CHECK(saturated<int>(-3.9) == -3);
  CHECK(saturated<int>(infinite) == 2147483647);
  CHECK(saturated<int>(-1e300) == std::numeric_limits<int>::min());
  CHECK(saturated<int>(std::nan("")) == 0);
  CHECK(saturated<std::int64_t>(0x1p63) == std::numeric_limits<std::int64_t>::max());
  CHECK(saturated<std::size_t>(-1.0) == 0);
  CHECK(saturated<std::size_t>(0.5) == 0);
}
