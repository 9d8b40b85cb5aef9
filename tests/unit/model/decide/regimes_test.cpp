// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/cost/published_terms.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

DecisionRequest request(std::vector<Regime> regimes, double fixed = 9.0) {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, fixed);
  request.regimes = std::move(regimes);
  return request;
}

double used_hour(const RegimeResult& result) {
  return result.per_rank.value() * 3600.0;
}

SpotTerms spot() {
  return {dollars_per_hour(0.63), {0.05, Seconds(120), Seconds(600), Seconds(0)}};
}

}  // namespace

TEST_CASE("a commitment is paid for hours that are not used", "[decide]") {
  const Decision decision =
      decide_curve(published_curve, 64, request({{"reserved", PricePart{0.60, 0.80}}}));
  const RegimeResult& reserved = decision.regimes.front();
  CHECK_THAT(used_hour(reserved), WithinRel(2.10 * 0.60 / 0.80, 1e-12));
  CHECK_THAT(*reserved.break_even, WithinRel(0.60, 1e-12));
}

TEST_CASE("an owned rank is one more way to pay, with its threshold against the price",
          "[decide]") {
  const Decision decision = decide_curve(published_curve,
                                         64,
                                         request({{"owned", model::published::owned(0.6)},
                                                  {"list", ListPrice{dollars_per_hour(1), {}}}}));
  CHECK_THAT(used_hour(decision.regimes[0]), WithinAbs(1.886, 5e-4));
  CHECK_THAT(*decision.regimes[0].break_even, WithinAbs(1.1314 / 2.10, 5e-5));
  CHECK_FALSE(decision.regimes[1].break_even);
  // A cheaper rank moves the optimum out: f/p grows.
  CHECK(decision.regimes[0].choice->cheapest >= 8);
  CHECK(decision.regimes[1].choice->cheapest > 8);
}

TEST_CASE("spot with reclaims stands beside the others with its expected costs", "[decide]") {
  DecisionRequest asked = request({{"on-demand", PricePart{}}, {"spot", spot()}});
  asked.spot = spot();
  const Decision decision = decide_curve(published_curve, 64, asked);
  const RegimeResult& result = decision.regimes[1];
  CHECK(result.choice->cheapest == decision.spot->cheapest);
  CHECK(result.costs[7] == decision.spot->counts[7].cost);
  CHECK_FALSE(result.choice->price_cancels);
}

TEST_CASE("each way to pay has its own cheapest count that meets the deadline", "[decide]") {
  DecisionRequest asked = request({{"on-demand", PricePart{}}, {"spot", spot()}});
  asked.rubric.deadline = Seconds(0.15 * 3600.0);
  const Decision decision = decide_curve(published_curve, 64, asked);
  CHECK(decision.regimes[0].cheapest_in_time == 9);
  CHECK_FALSE(decision.regimes[1].cheapest_in_time);
}

TEST_CASE("the value of time moves the choice but not the budget", "[decide]") {
  // As much as the published fixed price: K* = 8 again; without the waiting C(8) = 16.8 * .161750.
  DecisionRequest asked = request({}, 0.0);
  asked.metrics.prices = hourly(2.10, 9.0);
  asked.rubric.value_of_time = dollars_per_hour(9.0);
  asked.rubric.budget = Dollars(2.72);
  asked.rubric.objective = Objective::cost;
  const Decision decision = decide_curve(published_curve, 64, asked);
  CHECK(decision.choice->cheapest == 8);
  CHECK(decision.rubric.chosen == 8);
  asked.rubric.value_of_time = DollarsPerSecond(0);
  CHECK_FALSE(decide_curve(published_curve, 64, asked).rubric.chosen);
}

TEST_CASE("ways to pay that cannot be are refused", "[decide]") {
  const auto decided = [&](Regime regime) {
    return decide_curve(published_curve, 8, request({std::move(regime)}));
  };
  CHECK_THROWS_AS(decided({"reserved", PricePart{0.6, 0.0}}), UserError);
  CHECK_THROWS_AS(decided({"reserved", PricePart{0.6, 1.5}}), UserError);
  CHECK_THROWS_AS(decided({"list", ListPrice{dollars_per_hour(0), {}}}), UserError);
  CHECK_THROWS_AS(decided({"owned", model::published::owned(0.0)}), UserError);
  CHECK_THROWS_AS(
      decide_curve(published_curve, 8, request({{"a", PricePart{}}, {"a", PricePart{}}})),
      UserError);
}
