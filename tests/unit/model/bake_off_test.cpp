// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/forecast/bake_off.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

template <class Time>
std::vector<LawPoint> points(const std::vector<int>& counts, Time time) {
  std::vector<LawPoint> result;
  for (const int count : counts) result.push_back({count, time(count), std::nullopt});
  return result;
}

}  // namespace

TEST_CASE("a law that generated the times predicts them exactly", "[scaling]") {
  const auto result = bake_off(points(
      {1, 2, 4, 8, 16, 32, 64}, [](int k) { return 100.0 * (0.05 + 0.95 / k + 0.002 * (k - 1)); }));
  REQUIRE(result);
  CHECK(result->forecasts == 3);
  CHECK(result->laws.front().name == "contention-coherency");
  CHECK_THAT(result->laws.front().held_out, WithinAbs(0.0, 1e-9));
  CHECK_THAT(candidate_time(result->laws.front(), 128), WithinRel(100.0 * 0.31142, 1e-4));
}

TEST_CASE("logarithmic growth at work per rank is told from linear growth", "[scaling]") {
  const auto result =
      bake_off(points({1, 2, 4, 8, 16, 32}, [](int k) { return 10.0 + 0.3 * std::log2(k); }));
  REQUIRE(result);
  CHECK(result->laws.front().name == "constant and logarithm");
  CHECK_THAT(result->laws.front().coefficients[2], WithinAbs(0.3, 1e-9));
}

TEST_CASE("a cliff is beyond every law", "[scaling]") {
  // Ideal to 8, then each doubling takes twice as long: the last micro-batch is used up.
  const auto result = bake_off(
      points({1, 2, 4, 8, 16, 32, 64}, [](int k) { return k <= 8 ? 64.0 / k : 8.0 * (k / 8); }));
  REQUIRE(result);
  CHECK(result->laws.front().held_out > cliff_error);
}

TEST_CASE("fewer than five counts are judged by no forecast", "[scaling]") {
  CHECK_FALSE(bake_off(points({1, 2, 4, 8}, [](int k) { return 8.0 / k; })));
  CHECK_THROWS_AS(bake_off(points({1, 2, 4, 8, 16}, [](int) { return 0.0; })), UserError);
}

TEST_CASE("a long table is thinned to its ends", "[scaling]") {
  std::vector<LawPoint> rows;
  for (int k = 1; k <= 20000; ++k) rows.push_back({k, 5.0 + 100.0 / k, std::nullopt});
  const auto result = bake_off(rows);
  REQUIRE(result);
  CHECK(result->forecasts == 20);
  CHECK_THAT(result->laws.front().held_out, WithinAbs(0.0, 1e-6));
}
