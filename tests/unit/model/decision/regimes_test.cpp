// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"
#include "tests/unit/model/published_terms.h"

#include <algorithm>
#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

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
  const Decision decision = decide_curve(
      published_curve,
      64,
      request({{"owned", published::owned(0.6)}, {"half", PricePart{0.5, std::nullopt}}}));
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

namespace {
Preemption failing(double mtbf_hours) {
  Preemption terms;
  terms.failures_per_hour = 1.0 / mtbf_hours;
  return terms;
}
}  // namespace

TEST_CASE("failures lengthen and price every way to pay alike", "[decide]") {
  DecisionRequest asked = request({{"on-demand", PricePart{}},
                                   {"reserved", PricePart{0.60, {}}},
                                   {"owned", published::owned(0.6)},
                                   {"spot", spot()}});
  const Decision calm = decide_curve(published_curve, 64, asked);
  asked.metrics.failures = failing(40.0);
  auto& both = std::get<SpotTerms>(asked.regimes[3].terms).preemption;
  both.failures_per_hour = 1.0 / 40.0;
  const Decision decision = decide_curve(published_curve, 64, asked);
  // One segment at 8: M = 5 h, R = 1/6 h, w = .16175 h; M e^(R/M) (e^(w/M) - 1).
  const double expected_h = 5.0 * std::exp(1.0 / 30.0) * std::expm1(0.16175 / 5.0);
  const DecisionRow& row = decision.row(8);
  CHECK_THAT(row.wall().value.value() / 3600.0, WithinRel(expected_h, 1e-6));
  CHECK_THAT(row.failures->plan.goodput(), WithinRel(0.16175 / expected_h, 1e-6));
  CHECK_THAT(row.cost->value.value(), WithinRel((8 * 2.10 + 9.0) * expected_h, 1e-6));
  CHECK(row.speedup.value == calm.row(8).speedup.value);
  for (std::size_t i = 0; i < decision.regimes.size(); ++i) {
    const RegimeResult& one = decision.regimes[i];
    CHECK(*one.costs[7] > *calm.regimes[i].costs[7]);
    REQUIRE(one.goodput);
    CHECK(*one.goodput < 1.0);
  }
  CHECK(*decision.regimes[0].costs[7] == row.cost->value);
  CHECK_FALSE(calm.regimes[0].goodput);
  CHECK(calm.regimes[3].goodput);
  // What fails more often is cheaper with fewer ranks.
  asked.metrics.failures = failing(4.0);
  const Decision flaky = decide_curve(published_curve, 64, asked);
  CHECK(flaky.choice->cheapest < calm.choice->cheapest);
  CHECK(flaky.named.cheapest == flaky.choice->cheapest);
  CHECK(flaky.named.fastest < calm.named.fastest);
}

TEST_CASE("with failures a deadline asks for its probability, not for the expected time",
          "[decide]") {
  DecisionRequest asked = request({{"on-demand", PricePart{}}});
  asked.rubric.deadline = Seconds(0.20 * 3600.0);
  asked.metrics.failures = failing(100.0);
  // At 8 the job takes .16175 h and no failure falls into it with e^(-.01294) = 98.7 %.
  asked.rubric.deadline_probability = 0.98;
  CHECK(decide_curve(published_curve, 64, asked).regimes[0].cheapest_in_time == 8);
  asked.rubric.deadline_probability = 0.99;
  CHECK(decide_curve(published_curve, 64, asked).regimes[0].cheapest_in_time != 8);
}

TEST_CASE("failures of a step are those of a long job", "[decide]") {
  DecisionRequest asked;
  asked.metrics.failures = failing(1.0 / published_failures_per_hour);
  asked.metrics.failures->checkpoint = Seconds(30);
  const auto table =
      assemble({observation(8192, 2.0), observation(16384, 1.1)}, {TimeBasis::step, Axis::ranks});
  const Decision decision = decide_table(table, asked);
  CHECK_THAT(decision.row(16384).failures->plan.overhead, WithinAbs(0.137, 0.0005));
}

TEST_CASE("from 256 ranks on a remark says what failures would take, unless they are stated",
          "[decide]") {
  const auto remarks = [](int largest, Axis axis) {
    ScalingTable table = assemble({observation(128, 100.0), observation(largest, 60.0)});
    table.axis = axis;
    return failure_remarks(decision_rows(table, {}), axis);
  };
  CHECK(remarks(255, Axis::ranks).empty());
  CHECK(remarks(256, Axis::nodes).empty());
  CHECK(remarks(256, Axis::load).empty());
  REQUIRE(remarks(16384, Axis::ranks).size() == 1);
  const Finding found = remarks(16384, Axis::ranks).front();
  CHECK(found.id == FindingId::failures_not_counted);
  CHECK_THAT(std::get<double>(found.arguments.at(2).value), WithinRel(3.09, 2e-3));
  DecisionRequest asked;
  const ScalingTable table = assemble({observation(128, 100.0), observation(256, 60.0)});
  const auto told = [&] {
    return std::ranges::count_if(decide_table(table, asked).remarks, [](const auto& remark) {
      return remark.id == FindingId::failures_not_counted;
    });
  };
  CHECK(told() == 1);
  asked.metrics.failures = Preemption{};
  CHECK(told() == 0);
}

TEST_CASE("failures that cannot be counted are refused", "[decide]") {
  DecisionRequest asked;
  asked.metrics.failures = failing(1.0 / published_failures_per_hour);
  const std::vector<TableRow> rows{observation(1, 100.0), observation(2, 60.0)};
  CHECK_THROWS_AS(decide_table(assemble(rows, {TimeBasis::run, Axis::load}), asked), UserError);
  CHECK_THROWS_AS(decide_table(assemble(rows, {TimeBasis::run, Axis::nodes}), asked), UserError);
  asked.metrics.failures = failing(0.001);
  CHECK_THROWS_AS(decide_table(assemble(rows), asked), UserError);
}

TEST_CASE("the value of time moves the choice but not the budget", "[decide]") {
  // As much as the published fixed price: K* = 8 again; without the waiting C(8) = 16.8 * .161750.
  DecisionRequest asked = request({}, 0.0);
  asked.metrics.prices =
      Prices{.per_rank = dollars_per_hour(2.10), .value_of_time = dollars_per_hour(9.0)};
  asked.rubric.budget = Dollars(2.72);
  asked.rubric.objective = Objective::cost;
  const Decision decision = decide_curve(published_curve, 64, asked);
  CHECK(decision.choice->cheapest == 8);
  CHECK(decision.rubric.chosen == 8);
  asked.metrics.prices = hourly(2.10, 9.0);
  CHECK_FALSE(decide_curve(published_curve, 64, asked).rubric.chosen);
}

TEST_CASE("ways to pay that cannot be are refused", "[decide]") {
  const auto decided = [&](Regime regime) {
    return decide_curve(published_curve, 8, request({std::move(regime)}));
  };
  CHECK_THROWS_AS(decided({"reserved", PricePart{0.6, 0.0}}), UserError);
  CHECK_THROWS_AS(decided({"reserved", PricePart{0.6, 1.5}}), UserError);
  CHECK_THROWS_AS(decided({"reserved", PricePart{0.0, std::nullopt}}), UserError);
  CHECK_THROWS_AS(decided({"owned", published::owned(0.0)}), UserError);
  CHECK_THROWS_AS(
      decide_curve(published_curve, 8, request({{"a", PricePart{}}, {"a", PricePart{}}})),
      UserError);
}

TEST_CASE("knees, the law's optimum and forecasts count failures as the rows do", "[decide]") {
  DecisionRequest asked = request({});
  asked.metrics.failures = failing(4.0);
  asked.rubric.deadline = Seconds(0.5 * 3600.0);
  const Decision curve = decide_curve(published_curve, 64, asked);
  const int cheapest = curve.choice->cheapest;
  CHECK(find_knee(curve.knees.knees, KneeKind::cost)->count == cheapest);
  CHECK(find_knee(curve.knees.knees, KneeKind::peak)->count == curve.named.fastest);
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 3, 6, 12, 24, 48})
    rows.push_back(observation(count, published_curve.time(count)));
  const Decision table = decide_table(assemble(rows), asked);
  CHECK_THAT(*table.law->cost_optimal, WithinAbs(cheapest, 1.0));
  CHECK_THAT(*find_knee(table.knees.knees, KneeKind::cost)->count, WithinAbs(cheapest, 1.0));
  CHECK_THAT(*table.law->fastest, WithinAbs(curve.named.fastest, 2.0));
  const DeadlineForecast& forecast = *table.deadline_forecast;
  const auto wall = [&](int count) { return curve.row(count).wall().value.value(); };
  CHECK_THAT(forecast.fastest.expected.value(), WithinRel(wall(forecast.fastest.count), 0.01));
  // Against the odds of the undisturbed time alone, whose noise hardly matters at twice the time.
  const PredictedCount& fastest = forecast.fastest;
  const double chance = chance_in_time(*asked.metrics.failures,
                                       fastest.count,
                                       Seconds(published_curve.time(fastest.count)),
                                       *asked.rubric.deadline);
  CHECK_THAT(fastest.in_time, WithinAbs(chance, 0.02));
  CHECK(fastest.upper > *asked.rubric.deadline);
  asked.metrics.failures.reset();
  CHECK(decide_table(assemble(rows), asked).deadline_forecast->fastest.in_time > 0.99);
}
