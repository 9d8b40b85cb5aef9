// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/published_terms.h"
#include "tests/unit/model/decision/tables.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
/// 2 USD per rank-hour, 3 per hour fixed, 6 for waiting.
Prices four_ranks_bill() {
  return {dollars_per_hour(2), dollars_per_hour(3), dollars_per_hour(6)};
}
}  // namespace

TEST_CASE("the lines of a bill add up to the cost of the job", "[cost]") {
  // 4 ranks for half an hour: 4 * 2 * .5 = 4, 3 * .5 = 1.5, 6 * .5 = 3; 8.5 together.
  const BillLines lines = bill_lines(four_ranks_bill(), 4, Seconds(1800));
  CHECK_THAT(lines.ranks.value(), WithinRel(4.0, 1e-12));
  CHECK_THAT(lines.fixed.value(), WithinRel(1.5, 1e-12));
  CHECK_THAT(lines.waiting.value(), WithinRel(3.0, 1e-12));
  CHECK_THAT(lines.total().value(), WithinRel(8.5, 1e-12));
  CHECK_THAT(job_cost(four_ranks_bill(), 4, Seconds(1800)).value(), WithinRel(8.5, 1e-12));
}

TEST_CASE("the value of time acts exactly like a fixed price per hour", "[cost]") {
  Prices waiting{dollars_per_hour(2)};
  waiting.value_of_time = dollars_per_hour(9);
  Prices fixed{dollars_per_hour(2)};
  fixed.fixed = dollars_per_hour(9);
  CHECK(waiting.per_clock() == fixed.per_clock());
  CHECK(bill_lines(waiting, 8, Seconds(600)).total() == bill_lines(fixed, 8, Seconds(600)).total());
}

TEST_CASE("a million tokens cost what they take", "[cost]") {
  const Prices prices{.per_rank = dollars_per_hour(3.6)};
  CHECK_THAT(cost_per_million_tokens(prices, 1, 1e6).value(), WithinRel(0.001, 1e-12));
}

namespace {
Prices hourly(double per_rank, double fixed) {
  return {dollars_per_hour(per_rank), dollars_per_hour(fixed)};
}

/// One hour of work at K = 1 under s = .03, c = .0015: T(K) = 1 h (s + (1 - s)/K + c (K - 1)).
std::vector<CountTime> counts_up_to(int largest) {
  std::vector<CountTime> times;
  for (int k = 1; k <= largest; ++k) {
    times.push_back({k, {Seconds(3600.0 * (0.03 + 0.97 / k + 0.0015 * (k - 1))), std::nullopt, 0}});
  }
  return times;
}

double cost_at(int ranks, double fixed) {
  return job_cost(hourly(2.10, fixed), ranks, counts_up_to(64)[ranks - 1].time.value).value();
}
}  // namespace

TEST_CASE("the cost of a job follows the published worked example digit for digit", "[cost]") {
  // p = $2.10 per rank-hour, f = $9.00 per hour of wall clock; printed to 3 decimals there.
  const std::vector<std::pair<int, double>> printed = {{1, 11.100},
                                                       {2, 6.818},
                                                       {4, 4.820},
                                                       {8, 4.173},
                                                       {16, 4.819},
                                                       {24, 6.232},
                                                       {32, 8.139},
                                                       {48, 13.254},
                                                       {64, 20.027}};
  for (const auto& [ranks, cost] : printed) {
    CHECK_THAT(cost_at(ranks, 9.0), WithinAbs(cost, 0.0005));
  }
  CHECK_THAT(cost_at(7, 9.0), WithinAbs(4.208443, 5e-7));
  CHECK_THAT(cost_at(8, 9.0), WithinAbs(4.173150, 5e-7));
  CHECK_THAT(cost_at(9, 9.0), WithinAbs(4.178800, 5e-7));
}

TEST_CASE("K* is 8 with a plateau of 7 to 9, the fastest count 25", "[cost]") {
  const auto choice = choose_count(hourly(2.10, 9.0), counts_up_to(64));
  REQUIRE(choice);
  CHECK(choice->cheapest == 8);
  CHECK(choice->plateau == std::vector<int>{7, 8, 9});
  CHECK(choice->fastest == 25);
  CHECK_FALSE(choice->price_cancels);
}

TEST_CASE("less overhead per hour of wall clock moves K* to the left", "[cost]") {
  const auto choice = choose_count(hourly(2.10, 4.5), counts_up_to(64));
  REQUIRE(choice);
  CHECK(choice->cheapest == 6);
  CHECK_THAT(cost_at(6, 4.5), WithinAbs(3.4058, 5e-5));
}

TEST_CASE("the cost of a measured curve follows the published table", "[cost]") {
  // Seconds at 1, 2, 4, 8, 16 nodes and $3.20 per node-hour: 1 * 3.2 * 800 / 3600 = 0.711, ...
  const std::vector<CountTime> times = {{1, {Seconds(800), std::nullopt, 1}},
                                        {2, {Seconds(430), std::nullopt, 1}},
                                        {4, {Seconds(260), std::nullopt, 1}},
                                        {8, {Seconds(206), std::nullopt, 1}},
                                        {16, {Seconds(235), std::nullopt, 1}}};
  const std::vector<double> printed = {0.711, 0.764, 0.924, 1.465, 3.342};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Dollars cost = job_cost(hourly(3.2, 0), times[i].ranks, times[i].time.value);
    CHECK_THAT(cost.value(), WithinAbs(printed[i], 0.0005));
  }
  const auto choice = choose_count(hourly(3.2, 0), times);
  REQUIRE(choice);
  CHECK(choice->cheapest == 1);
  CHECK(choice->fastest == 8);
}

TEST_CASE("without a price per hour of wall clock K* is the same at every price", "[cost]") {
  for (const double price : {0.64, 2.1, 3.2, 40.0}) {
    const auto choice = choose_count(hourly(price, 0.0), counts_up_to(64));
    REQUIRE(choice);
    CHECK(choice->cheapest == 1);
    CHECK(choice->price_cancels);
  }
}

TEST_CASE("the price of a unit of work is the price at full efficiency over the efficiency",
          "[cost]") {
  // K p T1 / S = p T1 / E: with p T1 = $1, E = .6, .5, .4, .3 give 1.6667, 2, 2.5, 3.3333.
  const std::vector<std::pair<double, double>> expected = {
      {0.6, 1.6667}, {0.5, 2.0}, {0.4, 2.5}, {0.3, 3.3333}};
  for (const auto& [efficiency, dollars] : expected) {
    const Seconds time(3600.0 / (4 * efficiency));
    CHECK_THAT(job_cost(hourly(1.0, 0.0), 4, time).value(), WithinAbs(dollars, 5e-5));
  }
}

TEST_CASE("the cost per million tokens divides the bill by the tokens of all ranks", "[cost]") {
  // 1000 tokens/s per node at K = 8 and E = .7728 for $2.10: 8 * 2.1 / 3600 * 1e6 / 6182.4 = .7548.
  const Dollars cost = cost_per_million_tokens(hourly(2.1, 0.0), 8, 1000.0 * 8 * 0.7728);
  CHECK_THAT(cost.value(), WithinAbs(0.7548, 5e-5));
}

TEST_CASE("one count has the least cost, and the plateau is those within 1 % of it", "[cost]") {
  // Costs 10, 10.099, 10.101, 11 at $1 per rank-second: intervals that overlap change nothing.
  const auto at = [](int ranks, double cost) {
    const Interval<Seconds> wide{Seconds(0.5 * cost / ranks), Seconds(2.0 * cost / ranks)};
    return CountTime{ranks, {Seconds(cost / ranks), wide, 9}};
  };
  const auto choice = choose_count({DollarsPerSecond(1.0), DollarsPerSecond(0.0)},
                                   {at(1, 10.0), at(2, 10.099), at(4, 10.101), at(8, 11.0)});
  REQUIRE(choice);
  CHECK(choice->cheapest == 1);
  CHECK(choice->plateau == std::vector<int>{1, 2});
}

TEST_CASE("a cost without counts is absent and a negative price is refused", "[cost]") {
  CHECK_FALSE(choose_count(hourly(1, 0), {}));
  CHECK_THROWS_AS(job_cost(hourly(-1, 0), 1, Seconds(1)), UserError);
  CHECK_THROWS_AS(job_cost(hourly(1, 0), 0, Seconds(1)), UserError);
  CHECK_THROWS_AS(cost_per_million_tokens(hourly(1, 0), 1, 0.0), UserError);
}

namespace {
constexpr Estimate<Seconds> hour{Seconds(3600), std::nullopt, 0};

PowerTerms rated(double watts) {
  PowerTerms terms;
  terms.watts_per_rank = watts;
  return terms;
}
}  // namespace

TEST_CASE("waiting draws 70 % of full power unless given otherwise", "[energy]") {
  const auto mean_power = [](double waiting_power, double busy) {
    PowerTerms terms = rated(1000);
    terms.waiting_power = waiting_power;
    return rated_energy(terms, 1, hour, busy)->joules.value / 3600.0;
  };
  CHECK_THAT(mean_power(default_waiting_power, 0.25), WithinRel(775.0, 1e-12));
  CHECK_THAT(mean_power(0.0, 0.25), WithinRel(250.0, 1e-12));
  CHECK_THAT(mean_power(0.7, 1.2), WithinRel(1000.0, 1e-12));  // superlinear: never above
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
  using namespace scaleworth::model;
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
  using namespace scaleworth::model;
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
  using namespace scaleworth::model;
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
  CHECK_THROWS_AS(metered_energy(rated(0.0), 1.0), UserError);
  PowerTerms terms = rated(1.0);
  terms.power_usage_effectiveness = 0.9;
  CHECK_THROWS_AS(metered_energy(terms, 1.0), UserError);
  terms = rated(1.0);
  terms.waiting_power = 1.5;
  CHECK_THROWS_AS(metered_energy(terms, 1.0), UserError);
  terms = rated(1.0);
  terms.grams_per_kwh = 0.0;
  CHECK_THROWS_AS(metered_energy(terms, 1.0), UserError);
}

namespace owned_test {
using namespace scaleworth;
using namespace scaleworth::model;

namespace {
double hourly(const OwnedTerms& terms) {
  return owned_price(terms).value() * 3600.0;
}
}  // namespace

TEST_CASE("an owned rank costs the published price per useful hour", "[cost]") {
  // 30000/4/8760 = .8562, 1.3 * .08 = .104, 1500/8760 = .1712: 1.1314.
  CHECK_THAT(hourly(published::owned()), WithinAbs(1.131, 5e-4));
  CHECK_THAT(hourly(published::owned(0.6)), WithinAbs(1.886, 5e-4));
  CHECK_THAT(hourly(published::owned(0.3)), WithinAbs(3.771, 5e-4));
}

TEST_CASE("owning beats 2.50 USD per hour from a utilisation of 45.3 %", "[cost]") {
  const double threshold = break_even_utilisation(published::owned(0.3), dollars_per_hour(2.50));
  CHECK_THAT(threshold, WithinAbs(0.453, 5e-4));
  CHECK_THAT(hourly(published::owned(threshold)), WithinRel(2.50, 1e-12));
}

TEST_CASE("capital recovers with interest, and in a straight line without", "[cost]") {
  const auto yearly = [](double rate) {
    OwnedTerms terms;
    terms.capital = Dollars(1);
    terms.discount_rate = rate;
    return hourly(terms) * 8760.0;
  };
  // 1.08^4 = 1.36048896: .08 * 1.36048896 / .36048896 = .30192080.
  CHECK_THAT(yearly(0.08), WithinAbs(0.3019208, 1e-7));
  CHECK_THAT(yearly(0.0), WithinRel(0.25, 1e-12));
  CHECK_THAT(yearly(1e-9), WithinRel(0.25, 1e-8));
}

TEST_CASE("a residual value comes at the end and costs its interest meanwhile", "[cost]") {
  OwnedTerms terms;
  terms.capital = Dollars(10000);
  terms.residual = Dollars(10000);
  terms.discount_rate = 0.08;
  // Nothing is lost but the interest: 800 USD a year.
  CHECK_THAT(hourly(terms), WithinRel(800.0 / 8760.0, 1e-12));
  terms.residual = Dollars(2000);
  // .3019208 * 8000 + .08 * 2000 = 2575.3664 USD a year.
  CHECK_THAT(hourly(terms) * 8760.0, WithinRel(2575.3664, 1e-6));
}

TEST_CASE("an owned rank that cannot be is refused", "[cost]") {
  CHECK_THROWS_AS(owned_price(published::owned(0.0)), UserError);
  CHECK_THROWS_AS(owned_price(published::owned(1.1)), UserError);
  OwnedTerms terms = published::owned();
  terms.residual = Dollars(40000);
  CHECK_THROWS_AS(owned_price(terms), UserError);
  terms = published::owned();
  terms.power_usage_effectiveness = 0.9;
  CHECK_THROWS_AS(owned_price(terms), UserError);
  terms = published::owned();
  terms.lifetime_years = 0.0;
  CHECK_THROWS_AS(owned_price(terms), UserError);
  terms = published::owned();
  terms.discount_rate = -0.01;
  CHECK_THROWS_AS(owned_price(terms), UserError);
}

}  // namespace owned_test
