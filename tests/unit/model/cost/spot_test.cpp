// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/cost.h"
#include "tests/catch.h"
#include "tests/unit/model/cost/published_terms.h"
#include "tests/unit/model/cost/simulated_spot.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

double simulated_mean(const SpotPlan& plan, const Preemption& terms, double mean, int jobs) {
  std::mt19937_64 random(7);
  double sum = 0.0;
  for (int job = 0; job < jobs; ++job) sum += simulated::job(random, plan, terms, mean);
  return sum / jobs;
}

}  // namespace

TEST_CASE("the checkpoint interval is the published one", "[cost]") {
  CHECK_THAT(exact_interval(Seconds(120), Seconds(6 * 3600.0)).value(), WithinAbs(2197.6, 0.05));
}

TEST_CASE("a long job on 16384 GPUs takes 13.7 % longer", "[cost]") {
  // M = 3.093 h, checkpoint 30 s, restart 10 min.
  Preemption terms{1.0 / (3.093 * 16384), Seconds(30), Seconds(600), Seconds(0)};
  CHECK_THAT(mean_time_between_reclaims(terms, 16384).value(), WithinRel(3.093 * 3600.0, 1e-12));
  const auto plan = plan_spot(terms, 16384, Seconds(54 * 86400.0));
  REQUIRE(plan);
  CHECK_THAT(plan->interval.value() / 60.0,
             WithinAbs(13.3, 0.05));  // Daly: 816.8 s * 1.0126 - 30 s
  CHECK_THAT(plan->overhead, WithinAbs(0.137, 0.0005));
}

TEST_CASE("the expected time under reclaims agrees with simulated jobs within 1 %", "[cost]") {
  const Preemption terms{1.0 / 6.0, Seconds(120), Seconds(600), Seconds(0)};
  const auto plan = plan_spot(terms, 1, Seconds(10 * 3600.0));
  REQUIRE(plan);
  CHECK(plan->segments == 16);  // 36000 s / 2197.6 s
  const double mean = simulated_mean(*plan, terms, 6 * 3600.0, 20000);
  CHECK_THAT(plan->expected.value(), WithinRel(mean, 0.01));
  const auto flaky = plan_spot(terms, 12, Seconds(3600.0));  // M = 30 min
  REQUIRE(flaky);
  CHECK_THAT(flaky->expected.value(),
             WithinRel(simulated_mean(*flaky, terms, 1800.0, 40000), 0.01));
}

TEST_CASE("a job shorter than the interval writes no checkpoint", "[cost]") {
  const Preemption terms{1.0 / 6.0, Seconds(120), Seconds(600), Seconds(0)};
  const auto plan = plan_spot(terms, 1, Seconds(1200));
  REQUIRE(plan);
  CHECK(plan->segments == 1);
  CHECK(plan->expected == expected_segment(Seconds(1200), Seconds(600), Seconds(6 * 3600.0)));
}

TEST_CASE("a notice longer than the checkpoint loses nothing but the restarts", "[cost]") {
  const Preemption terms{1.0 / 6.0, Seconds(60), Seconds(600), Seconds(120)};
  const auto plan = plan_spot(terms, 1, Seconds(36000));
  REQUIRE(plan);
  CHECK_THAT(plan->overhead, WithinRel(std::expm1(600.0 / 21600.0), 1e-12));
}

TEST_CASE("a job that is taken away faster than it restarts does not finish", "[cost]") {
  const Preemption terms{60.0, Seconds(60), Seconds(600), Seconds(0)};
  CHECK_FALSE(plan_spot(terms, 64, Seconds(3600)));
  const SpotChoice choice =
      choose_spot_count({dollars_per_hour(0.63), dollars_per_hour(9)}, terms, published::times());
  CHECK_FALSE(choice.cheapest);
}

TEST_CASE("a low price pushes K* out and flakiness pulls it back", "[cost]") {
  const Prices spot{dollars_per_hour(0.63), dollars_per_hour(9)};
  const auto best = [&](double rate) {
    const Preemption terms{rate, Seconds(120), Seconds(600), Seconds(0)};
    return *choose_spot_count(spot, terms, published::times()).cheapest;
  };
  const int calm = best(1e-9);
  CHECK(calm > 8);  // the optimum at 2.10 USD
  CHECK(calm == choose_count(spot, published::times())->cheapest);
  CHECK(best(1.0) < calm);
}

TEST_CASE("terms that cannot be are refused", "[cost]") {
  CHECK_THROWS_AS(plan_spot({0.0, Seconds(1), Seconds(1), Seconds(0)}, 1, Seconds(1)), UserError);
  CHECK_THROWS_AS(plan_spot({1.0, Seconds(0), Seconds(1), Seconds(0)}, 1, Seconds(1)), UserError);
  CHECK_THROWS_AS(plan_spot({1.0, Seconds(1), Seconds(1), Seconds(0)}, 0, Seconds(1)), UserError);
}
