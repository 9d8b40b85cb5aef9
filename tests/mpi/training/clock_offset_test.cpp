// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/training.h"

#include "tests/catch.h"
#include "tests/mpi/ranks.h"

#include <chrono>
#include <cstdlib>

using namespace scaleworth::probes::host;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST_CASE("a clock that is off by a known time is brought back within the stated error",
          "[training]") {
  const int rank = mpi().rank(mpi().world());
  const nanoseconds shift = rank * 123'456'789ns;
  const auto shifted = [shift] {
    return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()) + shift;
  };
  const ClockOffset found = measure_clock_offset(mpi(), mpi().world(), shifted);
  REQUIRE(std::abs((found.offset + shift).count()) <= found.error.count());
  REQUIRE((rank == 0) == (found.error == 0ns));
}

TEST_CASE("ranks of one host share one clock", "[training]") {
  const CommonClock clock = measure_common_clock(mpi(), mpi().world());
  REQUIRE(clock.own.offset == 0ns);
  REQUIRE(clock.own.error == 0ns);
}

TEST_CASE("a drift between two comparisons widens the error", "[training]") {
  const CommonClock before{{100ns, 5ns}, "m"};
  const CommonClock after{{140ns, 7ns}, "m"};
  const CommonClock both = combine(before, after);
  REQUIRE(both.own.offset == 120ns);
  REQUIRE(both.own.error == 27ns);  // 7 + half the drift of 40
}
