// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/energy.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

constexpr Estimate<Seconds> hour{Seconds(3600), std::nullopt, 0};

PowerTerms rated(double watts) {
  PowerTerms terms;
  terms.watts_per_rank = watts;
  return terms;
}

}  // namespace

TEST_CASE("waiting draws 70 % of full power unless told otherwise", "[energy]") {
  CHECK_THAT(mean_power(1000, default_waiting_power, 0.25), WithinRel(775.0, 1e-12));
  CHECK_THAT(mean_power(1000, 0.0, 0.25), WithinRel(250.0, 1e-12));
  CHECK_THAT(mean_power(1000, 0.7, 1.2), WithinRel(1000.0, 1e-12));  // superlinear: never above
}

TEST_CASE("rated energy is count times power times time, in a building and on a grid", "[energy]") {
  PowerTerms terms = rated(1000);
  terms.power_usage_effectiveness = 1.3;
  terms.grams_per_kwh = 400.0;
  // 4 ranks at 1 kW for one hour, busy half of it: 4 (.5 + .5 * .7) = 3.4 kWh; 4.42 with PUE; 1768
  // g.
  const auto energy = rated_energy(terms, 4, hour, 0.5);
  REQUIRE(energy);
  CHECK_THAT(energy->joules.value, WithinRel(3.4 * 3.6e6, 1e-12));
  CHECK_THAT(energy->facility_kwh.value, WithinRel(4.42, 1e-12));
  CHECK_THAT(energy->grams->value, WithinRel(1768.0, 1e-12));
  CHECK_FALSE(energy->metered);
  CHECK_FALSE(rated_energy(PowerTerms{}, 4, hour, 0.5));
}

TEST_CASE("meters go before ratings, row by row, and energy is of the same work", "[energy]") {
  using namespace scaleworth::decide;
  auto first = example::observation(1, 3600);
  auto second = example::observation(2, 3600);
  first.work = 10.0;
  second.work = 20.0;  // twice the work in the same time: efficiency 1
  second.energy_j = 7.2e6;
  MetricsRequest request;
  request.power = rated(1000);
  const auto rows = decision_rows(assemble({first, second}), request);
  CHECK_THAT(rows[0].energy->facility_kwh.value, WithinRel(1.0, 1e-12));
  CHECK_FALSE(rows[0].energy->metered);
  CHECK_THAT(rows[1].energy->facility_kwh.value, WithinRel(1.0, 1e-12));
  CHECK(rows[1].energy->metered);
  CHECK_THAT(*rows[0].energy_per_work, WithinRel(3.6e5, 1e-12));
  CHECK_THAT(*rows[1].energy_per_work, WithinRel(3.6e5, 1e-12));
}

TEST_CASE("the compute part says how long a rank waits, else the efficiency", "[energy]") {
  using namespace scaleworth::decide;
  MetricsRequest request;
  request.power = rated(1000);
  // 8 nodes for 206 s, 100 of them computing: 1000 (100 + 106 * .7) * 8 J.
  const auto parts = decision_rows(example::breakdown_table(), request);
  CHECK_THAT(parts[3].energy->joules.value, WithinRel(8.0 * 1000.0 * (100.0 + 0.7 * 106.0), 1e-12));
  // 2 ranks for 1880 s at E = 3600/3760.
  const auto whole = decision_rows(assemble(example::strong_observations()), request);
  const double busy = 3600.0 / 3760.0;
  CHECK_THAT(whole[1].energy->joules.value,
             WithinRel(2.0 * 1880.0 * 1000.0 * (busy + 0.7 * (1.0 - busy)), 1e-12));
}

TEST_CASE("energy is an objective and has a budget", "[energy]") {
  using namespace scaleworth::decide;
  DecisionRequest request;
  request.metrics.power = rated(1000);
  request.metrics.power.waiting_power =
      0.0;  // then energy is the same at every count but for parts
  request.rubric.objective = Objective::energy;
  const ScalingTable table = assemble(example::strong_observations());
  CHECK(decide_table(table, request).rubric.chosen == 1);
  request.metrics.power.waiting_power = 1.0;  // 1 kW K T: 1, 1.044, 1.122, 1.244, 1.511, 2.222 kWh
  request.rubric.objective = Objective::time;
  request.rubric.energy_budget_kwh = 1.3;
  const Decision bounded = decide_table(table, request);
  CHECK(bounded.rubric.chosen == 8);
  CHECK(bounded.rubric.exclusions.front().counts == std::vector<int>{16, 32});
  request.metrics.power = PowerTerms{};
  CHECK_THROWS_AS(decide_table(table, request), UserError);
}

TEST_CASE("power that cannot be is refused", "[energy]") {
  CHECK_THROWS_AS(check(rated(0.0)), UserError);
  PowerTerms terms = rated(1.0);
  terms.power_usage_effectiveness = 0.9;
  CHECK_THROWS_AS(check(terms), UserError);
  terms = rated(1.0);
  terms.waiting_power = 1.5;
  CHECK_THROWS_AS(check(terms), UserError);
  terms = rated(1.0);
  terms.grams_per_kwh = 0.0;
  CHECK_THROWS_AS(check(terms), UserError);
}
