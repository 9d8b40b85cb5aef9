// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

/// 1000, 520 and 290 s at 1, 2 and 4.
std::vector<Observation> timed() {
  return {observation(1, 1000), observation(2, 520), observation(4, 290)};
}

/// The last two have meters, the first has none.
std::vector<Observation> partly_metered() {
  std::vector<Observation> rows = timed();
  rows[1].energy_j = 3.6e6;
  rows[2].energy_j = 7.2e6;
  return rows;
}

DecisionRequest frugal() {
  DecisionRequest request;
  request.rubric.objective = Objective::energy;
  return request;
}

Decision decided(const std::vector<Observation>& rows, const DecisionRequest& request) {
  return decide_table(assemble(rows), request);
}

}  // namespace

TEST_CASE("the most frugal is chosen among the rows whose energy is known, the others say why not",
          "[decide]") {
  const RubricResult result = decided(partly_metered(), frugal()).rubric;
  CHECK(result.chosen == 2);
  CHECK(result.passing == 2);
  REQUIRE(result.exclusions.size() == 1);
  CHECK(result.exclusions.front().reason == "energy not known");
  CHECK(result.exclusions.front().counts == std::vector<int>{1});
}

TEST_CASE("rated power makes the energy of rows without meters and without work", "[decide]") {
  DecisionRequest request = frugal();
  request.metrics.power.watts_per_rank = 1000.0;
  const Decision decision = decided(timed(), request);
  CHECK(decision.rubric.exclusions.empty());
  // One rank for 1000 s, computing all the time: 1 MJ, the least, for waiting draws power too.
  CHECK(decision.rubric.chosen == 1);
  CHECK_THAT(decision.row(1).energy->joules.value, WithinRel(1e6, 1e-12));
}

TEST_CASE("an energy per unit of work is compared without the work being known", "[decide]") {
  std::vector<Observation> rows = timed();
  rows[0].energy_per_work_j = 3.0;
  rows[1].energy_per_work_j = 2.0;
  const Decision decision = decided(rows, frugal());
  CHECK(decision.rubric.chosen == 2);
  CHECK_FALSE(decision.row(2).energy.has_value());
  CHECK(decision.row(2).energy_per_work == 2.0);
  REQUIRE(decision.rubric.exclusions.size() == 1);
  CHECK(decision.rubric.exclusions.front().counts == std::vector<int>{4});
}

TEST_CASE("an energy per unit of work becomes that of the run by the work given", "[decide]") {
  std::vector<Observation> rows = timed();
  for (Observation& row : rows) row.energy_per_work_j = 3.0;
  DecisionRequest request = frugal();
  request.metrics.work = 1.2e6;
  const Decision decision = decided(rows, request);
  // 3 J x 1.2e6 = 3.6 MJ = 1 kWh.
  CHECK_THAT(decision.row(4).energy->facility_kwh.value, WithinRel(1.0, 1e-12));
  CHECK_THAT(*decision.row(4).energy_per_work, WithinRel(3.0, 1e-12));
}

TEST_CASE("a budget of energy excludes what exceeds it and what is not known, each by its reason",
          "[decide]") {
  DecisionRequest request;
  request.rubric.energy_budget_kwh = 1.5;  // 1 kWh at 2, 2 kWh at 4
  const RubricResult result = decided(partly_metered(), request).rubric;
  CHECK(result.chosen == 2);
  REQUIRE(result.exclusions.size() == 2);
  CHECK(result.exclusions[0].counts == std::vector<int>{4});
  CHECK(result.exclusions[1].counts == std::vector<int>{1});
}

TEST_CASE("an energy that no row has cannot be the objective or have a budget", "[decide]") {
  CHECK_THROWS_AS(decided(timed(), frugal()), UserError);
  DecisionRequest request;
  request.rubric.energy_budget_kwh = 1.0;
  CHECK_THROWS_AS(decided(timed(), request), UserError);
  std::vector<Observation> rows = timed();
  for (Observation& row : rows) row.energy_per_work_j = 3.0;
  CHECK_THROWS_AS(decided(rows, request), UserError);
}
