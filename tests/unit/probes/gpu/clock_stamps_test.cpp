// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/clock_stamps.h"

#include "tests/catch.h"

#include <vector>

using namespace scaleworth::probes;

TEST_CASE("the clock is the cycles of one multiprocessor over their time", "[gpu][clock]") {
  // 1 ms and 1.8e6 cycles: 1.8 GHz. The counters of multiprocessors differ by any amount.
  const std::vector<ClockStamp> before{{1'000'000, 50, 7}, {1'000'100, 900'000, 7}};
  const std::vector<ClockStamp> after{{2'000'000, 1'800'050, 7}, {2'000'100, 2'700'000, 7}};
  const auto clock = clock_between(before, after, 7);
  REQUIRE(clock);
  CHECK_THAT(*clock, WithinRel(1.8e9, 1e-12));
}

TEST_CASE("a multiprocessor with a stamp of an earlier batch does not count", "[gpu][clock]") {
  const std::vector<ClockStamp> before{{1'000'000, 50, 6}, {1'000'000, 0, 7}};
  const std::vector<ClockStamp> after{{2'000'000, 1'800'050, 7}, {2'000'000, 1'500'000, 7}};
  CHECK_THAT(clock_between(before, after, 7).value_or(0.0), WithinRel(1.5e9, 1e-12));
  CHECK_FALSE(clock_between(before, after, 8));
}

TEST_CASE("too short a time gives no clock", "[gpu][clock]") {
  const std::vector<ClockStamp> before{{1'000'000, 0, 1}};
  const std::vector<ClockStamp> after{{1'400'000, 600'000, 1}};
  CHECK_FALSE(clock_between(before, after, 1));
}
