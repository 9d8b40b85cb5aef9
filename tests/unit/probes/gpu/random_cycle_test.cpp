// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/random_cycle.h"

#include "tests/catch.h"

using namespace scaleworth::probes;

TEST_CASE("a random cycle returns after all places and not before", "[gpu][cycle]") {
  const auto next = random_cycle(1000, 1);
  std::uint32_t place = 0;
  std::uint32_t steps = 0;
  do {
    place = next[place];
    ++steps;
  } while (place != 0);
  CHECK(steps == 1000);
}

TEST_CASE("a seed gives the same cycle, another seed another", "[gpu][cycle]") {
  CHECK(random_cycle(100, 7) == random_cycle(100, 7));
  CHECK(random_cycle(100, 7) != random_cycle(100, 8));
}

TEST_CASE("the place after some steps is found by walking", "[gpu][cycle]") {
  const std::vector<std::uint32_t> next{2, 0, 1};
  CHECK(place_after(next, 0, 0) == 0);
  CHECK(place_after(next, 0, 2) == 1);
  CHECK(place_after(next, 0, 3) == 0);
}
