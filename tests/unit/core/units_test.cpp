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
