// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/forecast/bake_off.h"

#include "src/core/error.h"
#include "src/model/scaling/forecast/normal_form.h"
#include "tests/catch.h"

#include <algorithm>
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
  const auto result =
      bake_off(points({1, 2, 4, 8, 16, 32, 64},
                      [](int k) { return 100.0 * (0.05 + 0.95 / k + 0.002 * (k - 1)); }),
               false);
  REQUIRE(result);
  CHECK(result->forecasts == 4);
  CHECK(result->by_forecast);
  CHECK(result->laws.front().name == "contention-coherency");
  // From four points on; with three the first guess stands in for it.
  CHECK_THAT(result->laws.front().worst, WithinAbs(0.0, 1e-9));
  CHECK(result->laws.front().held_out > 0.0);
  CHECK_THAT(candidate_time(result->laws.front(), 128), WithinRel(100.0 * 0.31142, 1e-4));
}

TEST_CASE("logarithmic growth at work per rank is told from linear growth", "[scaling]") {
  const auto result =
      bake_off(points({1, 2, 4, 8, 16, 32}, [](int k) { return 10.0 + 0.3 * std::log2(k); }), true);
  REQUIRE(result);
  CHECK(result->laws.front().name == "constant and logarithm");
  CHECK_THAT(result->laws.front().fitted.coefficients[1], WithinAbs(0.3, 1e-9));
}

TEST_CASE("the normal form finds the term of a curve of unknown shape", "[scaling]") {
  // K T = 3 + 0.2 K^(4/3) log2 K.
  const auto data = points({1, 2, 4, 8, 16, 32}, [](int k) {
    return (3.0 + 0.2 * std::pow(k, 4.0 / 3.0) * std::log2(k)) / k;
  });
  const FittedLaw law = fit_normal_form(data);
  CHECK_THAT(law.coefficients[0], WithinAbs(3.0, 1e-6));
  CHECK_THAT(law.coefficients[1], WithinAbs(0.2, 1e-6));
  CHECK_THAT(law.coefficients[2], WithinAbs(4.0 / 3.0, 1e-12));
  CHECK(law.coefficients[3] == 1.0);
  // Four points would meet one of 42 terms by chance: none is taken.
  const std::vector<LawPoint> four(data.begin(), data.begin() + 4);
  CHECK(fit_normal_form(four).coefficients[1] == 0.0);
}

TEST_CASE("the normal form of a constant rate has no term", "[scaling]") {
  const FittedLaw law = fit_normal_form(points({1, 2, 4, 8, 16}, [](int k) { return 7.0 / k; }));
  CHECK_THAT(law.time(64), WithinRel(7.0 / 64, 1e-9));
}

TEST_CASE("a power of the count is found", "[scaling]") {
  const auto result =
      bake_off(points({1, 2, 4, 8, 16}, [](int k) { return 5.0 * std::pow(k, -0.83); }), false);
  REQUIRE(result);
  CHECK(result->laws.front().name == "power loss");
  CHECK_THAT(result->laws.front().fitted.coefficients[1], WithinAbs(0.17, 1e-9));
}

TEST_CASE("communication that is known competes with the other laws", "[scaling]") {
  const auto ring = [](double k) { return 0.3 * (k - 1.0) + 2.0 * (k - 1.0) / k; };
  const auto result =
      bake_off(points({1, 2, 4, 8, 16, 32}, [&](int k) { return 40.0 / k + 1.0 + ring(k); }),
               false,
               {informed_family(ring)});
  REQUIRE(result);
  const auto& laws = result->laws;
  const auto informed = std::find_if(laws.begin(), laws.end(), [](const CandidateLaw& law) {
    return law.name == "Amdahl and measured communication";
  });
  REQUIRE(informed != laws.end());
  CHECK_THAT(informed->held_out, WithinAbs(0.0, 1e-9));
  CHECK_THAT(informed->fitted.coefficients[1], WithinAbs(1.0, 1e-9));
}

TEST_CASE("too few counts keep the law that the kind of scaling suggests", "[scaling]") {
  const auto two = points({1, 2}, [](int k) { return 8.0 / k + 1.0; });
  CHECK(choose_law({two}, false).family.name == "Amdahl");
  CHECK(choose_law({two}, true).family.name == "logarithmic loss");
  CHECK_FALSE(choose_law({two}, true).held_out);
}

TEST_CASE("another law takes its place when it predicts clearly better", "[scaling]") {
  const auto amdahl = points({1, 2, 4, 8}, [](int k) { return 0.9 / k + 0.1; });
  const LawChoice weak = choose_law({amdahl}, true);
  CHECK(weak.by_forecast);
  CHECK(weak.family.name == "Amdahl");
  const LawChoice strong = choose_law({amdahl}, false);
  CHECK_FALSE(strong.by_forecast);
  CHECK_THAT(*strong.held_out, WithinAbs(0.0, 1e-9));
}

TEST_CASE("a law takes the first guess's place by more than the noise of its forecasts",
          "[scaling]") {
  // Amdahl's law with 3 % ripples: others follow single counts better, none does so always.
  const std::vector<double> ripples{0.97, 1.03, 0.98, 1.03, 0.97, 1.02, 0.98, 1.03};
  std::size_t at = 0;
  const auto rippled =
      points({1, 2, 4, 8, 16, 32, 64, 128}, [&](int k) { return (0.9 / k + 0.1) * ripples[at++]; });
  const LawChoice choice = choose_law({rippled}, false);
  CHECK(choice.family.name == "Amdahl");
  CHECK_FALSE(choice.by_forecast);
}

TEST_CASE("a law of three terms needs seven counts to be chosen", "[scaling]") {
  const auto bent = [](int k) { return 0.1 + 0.9 / k + 0.001 * (k - 1); };
  CHECK(choose_law({points({1, 2, 4, 8, 16, 32}, bent)}, false).family.name == "Amdahl");
  CHECK(choose_law({points({1, 2, 4, 8, 16, 32, 64}, bent)}, false).family.name ==
        "contention-coherency");
}

TEST_CASE("a law of three terms is chosen from fewer counts where the others see a cliff",
          "[scaling]") {
  const std::vector<double> seconds{800.0, 430.0, 260.0, 206.0, 235.0};
  std::size_t at = 0;
  const auto peaked = points({1, 2, 4, 8, 16}, [&](int) { return seconds[at++]; });
  const auto result = bake_off(peaked, false);
  REQUIRE(result);
  CHECK(result->laws.front().name == "contention-coherency");
  CHECK(result->laws.front().worst < cliff_error);
}

TEST_CASE("a cliff is beyond every law", "[scaling]") {
  // Ideal to 8, then each doubling takes twice as long: the last micro-batch is used up.
  const auto result = bake_off(
      points({1, 2, 4, 8, 16, 32, 64}, [](int k) { return k <= 8 ? 64.0 / k : 8.0 * (k / 8); }),
      false);
  REQUIRE(result);
  CHECK(result->laws.front().held_out > cliff_error);
}

TEST_CASE("fewer than five counts are judged by no forecast", "[scaling]") {
  CHECK_FALSE(bake_off(points({1, 2, 4, 8}, [](int k) { return 8.0 / k; }), false));
  CHECK_THROWS_AS(bake_off(points({1, 2, 4, 8, 16}, [](int) { return 0.0; }), false), UserError);
}

TEST_CASE("a long table is thinned to its ends", "[scaling]") {
  std::vector<LawPoint> rows;
  for (int k = 1; k <= 20000; ++k) rows.push_back({k, 5.0 + 100.0 / k, std::nullopt});
  const auto result = bake_off(rows, false);
  REQUIRE(result);
  CHECK(result->forecasts == 20);
  CHECK_THAT(result->laws.front().held_out, WithinAbs(0.0, 1e-6));
}
