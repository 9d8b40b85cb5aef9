// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/intervals.h"

#include "tests/catch.h"

#include <random>

namespace scaleworth::trace {
namespace {

using std::chrono::nanoseconds;

TimeInterval range(int start, int end) {
  return {nanoseconds(start), nanoseconds(end)};
}

IntervalSet random_set(std::mt19937& random) {
  std::uniform_int_distribution<int> time(0, 60);
  std::vector<TimeInterval> ranges;
  for (int i = 0; i < 8; ++i) ranges.push_back(range(time(random), time(random)));
  return IntervalSet(ranges);
}

bool holds(const IntervalSet& set, int time) {
  for (const TimeInterval& r : set.ranges()) {
    if (r.start <= nanoseconds(time) && nanoseconds(time) < r.end) return true;
  }
  return false;
}

TEST_CASE("An interval set joins what overlaps or touches and drops what is empty") {
  const IntervalSet set({range(5, 9), range(1, 3), range(3, 4), range(8, 12), range(20, 20)});
  REQUIRE(set.ranges().size() == 2);
  CHECK(set.ranges()[0].end == nanoseconds(4));
  CHECK(set.ranges()[1].end == nanoseconds(12));
  CHECK(set.length() == nanoseconds(10));
}

TEST_CASE("Set operations hold instant by instant on random sets") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const IntervalSet a = random_set(random);
    const IntervalSet b = random_set(random);
    const IntervalSet united = a.united(b);
    const IntervalSet common = a.intersected(b);
    const IntervalSet rest = a.without(b);
    const IntervalSet window = a.within(range(10, 40));
    for (int t = 0; t < 60; ++t) {
      REQUIRE(holds(united, t) == (holds(a, t) || holds(b, t)));
      REQUIRE(holds(common, t) == (holds(a, t) && holds(b, t)));
      REQUIRE(holds(rest, t) == (holds(a, t) && !holds(b, t)));
      REQUIRE(holds(window, t) == (holds(a, t) && t >= 10 && t < 40));
    }
    REQUIRE(common.length() + rest.length() == a.length());
  }
}

}  // namespace
}  // namespace scaleworth::trace
