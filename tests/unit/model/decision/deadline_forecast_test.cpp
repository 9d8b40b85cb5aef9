// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/decision/regimes.h"
#include "src/model/decision/scaling_row.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

#include <algorithm>
#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {
/// T(K) = 1000 s (0.02 + 0.98/K + 0.0002 (K-1)) with the last digits of a stopwatch, so that the
/// fit has residuals: 1000.0, 510.2, 265.6, 143.9, 84.25, 56.83 s before them.
std::vector<TableRow> scaled() {
  return {observation(1, 1001),
          observation(2, 510),
          observation(4, 265.5),
          observation(8, 144),
          observation(16, 84.2),
          observation(32, 56.9)};
}

double law_time(int count) {
  return 1000.0 * (0.02 + 0.98 / count + 0.0002 * (count - 1));
}

DecisionRequest by(double deadline_s) {
  DecisionRequest request;
  request.rubric.deadline = Seconds(deadline_s);
  request.metrics.prices = hourly(2.0);
  return request;
}

DeadlineForecast forecast(const std::vector<TableRow>& rows, const DecisionRequest& request) {
  const Decision decision = decide_table(assemble(rows), request);
  REQUIRE(decision.deadline_forecast.has_value());
  return *decision.deadline_forecast;
}
}  // namespace

TEST_CASE("between two measured counts the law names the cheapest that meets the deadline",
          "[decide]") {
  // 12 takes 103.9 s, 11 takes 111.1 s: of a deadline of 108 s the first is the cheapest.
  const DeadlineForecast found = forecast(scaled(), by(108.0));
  CHECK_FALSE(found.unavailable);
  CHECK(found.measured == 16);
  REQUIRE(found.cheapest.has_value());
  CHECK(found.cheapest->count == 12);
  CHECK_FALSE(found.cheapest->beyond);
  CHECK_THAT(found.cheapest->expected.value(), WithinRel(law_time(12), 0.01));
  CHECK(found.cheapest->upper > found.cheapest->expected);
  CHECK(found.cheapest->upper <= Seconds(108.0));
  CHECK(found.cheapest->in_time >= 0.95);
  // 2 USD per rank and hour.
  CHECK_THAT(found.cheapest->expected_cost->value(),
             WithinRel(12 * 2.0 / 3600.0 * found.cheapest->expected.value(), 1e-9));
}

TEST_CASE("the upper quantile leaves room: a deadline at the expected time is not met",
          "[decide]") {
  const DeadlineForecast found = forecast(scaled(), by(law_time(12)));
  REQUIRE(found.cheapest.has_value());
  CHECK(found.cheapest->count > 12);
  DecisionRequest sure = by(108.0);
  sure.rubric.deadline_probability = 0.9999999;
  CHECK(forecast(scaled(), sure).cheapest->count > 12);
}

TEST_CASE("beyond the measured counts the law reaches to four times the largest", "[decide]") {
  // 48: 49.8 s, against 56.9 s at 32, the fastest measured.
  const DeadlineForecast found = forecast(scaled(), by(54.0));
  CHECK_FALSE(found.measured.has_value());
  CHECK(found.to == 128);
  REQUIRE(found.cheapest.has_value());
  CHECK(found.cheapest->beyond);
  CHECK(found.cheapest->count > 34);
  CHECK(found.cheapest->count < 60);
}

TEST_CASE("where the peak is too slow no count within reach meets the deadline", "[decide]") {
  // Peak at sqrt(0.98/0.0002) = 70: 47.8 s.
  const DeadlineForecast found = forecast(scaled(), by(30.0));
  CHECK_FALSE(found.measured.has_value());
  CHECK_FALSE(found.cheapest.has_value());
  CHECK(found.in_time_anywhere < 0.05);
  CHECK_THAT(found.fastest.expected.value(), WithinRel(47.8, 0.05));
}

TEST_CASE("the efficiency threshold and the budget hold for predicted counts too", "[decide]") {
  DecisionRequest request = by(54.0);
  request.rubric.efficiency_threshold = 0.9;
  CHECK_FALSE(forecast(scaled(), request).cheapest.has_value());
  request = by(54.0);
  request.rubric.budget = Dollars(1.0);  // 40 ranks for 52 s: 1.2 USD
  CHECK_FALSE(forecast(scaled(), request).cheapest.has_value());
  request.rubric.budget = Dollars(2.0);
  CHECK(forecast(scaled(), request).cheapest.has_value());
}

TEST_CASE("counts of nodes of eight are predicted in multiples of eight", "[decide]") {
  std::vector<TableRow> rows = scaled();
  for (TableRow& row : rows) row.count *= 8;
  const DeadlineForecast found = forecast(rows, by(108.0));
  CHECK(found.step == 8);
  REQUIRE(found.cheapest.has_value());
  CHECK(found.cheapest->count % 8 == 0);
}

TEST_CASE("the noise of one run is that of the repeats, not that of their median", "[decide]") {
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 4, 8, 16, 32}) {
    // Relative standard deviation of 0.97, 1, 1.03: 0.03.
    for (int repeat = 1; repeat <= 3; ++repeat) {
      TableRow at = observation(count, law_time(count) * (0.94 + 0.03 * repeat));
      at.repeat = repeat;
      rows.push_back(at);
    }
  }
  const DeadlineForecast found = forecast(rows, by(108.0));
  CHECK(found.noise_measured);
  CHECK_THAT(*found.noise, WithinRel(0.03, 1e-6));
  REQUIRE(found.cheapest.has_value());
  // t(0.95, 12) = 1.78: a run keeps 108 s only where 102.5 s are expected, 13 (97.8 s) or more.
  CHECK(found.cheapest->count >= 13);
}

TEST_CASE("a law that is not told predicts no count, and says why", "[decide]") {
  const std::vector<TableRow> few{observation(1, 100), observation(2, 55), observation(4, 30)};
  CHECK(forecast(few, by(20.0)).unavailable);
  // Twice as slow beyond 8: no law foresees it.
  std::vector<TableRow> cliff = scaled();
  cliff[4].time_s = 300.0;
  cliff[5].time_s = 290.0;
  CHECK(forecast(cliff, by(20.0)).unavailable == Finding(FindingId::regime_changes));
}

TEST_CASE("a probability outside 0 to 1 is refused", "[decide]") {
  DecisionRequest request = by(108.0);
  request.rubric.deadline_probability = 1.0;
  CHECK_THROWS_AS(decide_table(assemble(scaled()), request), UserError);
}

TEST_CASE("one more run at a measured count may miss the deadline that the first ones met",
          "[decide]") {
  std::vector<TableRow> rows;
  // Two runs each, of 0.99 and 1.01: a relative standard deviation of 0.01414 on two degrees.
  for (const int count : {1, 2}) {
    for (const double factor : {0.99, 1.01}) {
      TableRow at = observation(count, 100.0 * factor / count);
      at.repeat = factor < 1.0 ? 1 : 2;
      rows.push_back(at);
    }
  }
  // One further run keeps 50 (1 + 2.91999 * 0.0141421 sqrt(3/2)) = 52.529 s with 95 %.
  CHECK_FALSE(forecast(rows, by(52.52)).measured);
  CHECK(forecast(rows, by(52.54)).measured == 2);
  DecisionRequest unsure = by(50.5);
  unsure.rubric.deadline_probability = 0.6;
  const DeadlineForecast found = forecast(rows, unsure);
  CHECK(found.unavailable);
  CHECK(found.measured == 2);
  CHECK_THAT(*found.noise, WithinRel(0.0141421, 1e-5));
  // t = 0.01 / (0.0141421 sqrt(3/2)) = 0.577350: P(T < t) on two degrees is
  // 1/2 + t / (2 sqrt(2 + t^2)) = 0.688982.
  CHECK_THAT(*found.measured_in_time, WithinAbs(0.688982, 1e-5));
}

TEST_CASE("without repeats and law nothing says how surely a run meets a deadline", "[decide]") {
  const std::vector<TableRow> two{observation(1, 100), observation(2, 55)};
  const DeadlineForecast found = forecast(two, by(60.0));
  CHECK(found.measured == 2);
  CHECK_FALSE(found.noise.has_value());
  CHECK_FALSE(found.measured_in_time.has_value());
}

namespace {
std::vector<DecisionRow> priced(const std::vector<TableRow>& table) {
  MetricsRequest request;
  request.prices = hourly(3.6);  // 0.001 USD per rank and second
  return decision_rows(assemble(table), request);
}
}  // namespace

TEST_CASE("an hour of waiting says by its worth which count to take", "[decide]") {
  // USD .1, .11, .152, .232; 4 to 8 saves 9 s for .08: 32 USD/h; 2 to 4 17 s for .042: 8.894.
  const auto rows =
      priced({observation(1, 100), observation(2, 55), observation(4, 38), observation(8, 29)});
  const auto worth = value_of_waiting(rows, {});
  REQUIRE(worth.size() == 4);
  CHECK(worth[0].count == 1);
  CHECK(worth[0].from.value() == 0.0);
  CHECK(worth[1].count == 2);
  CHECK_THAT(worth[1].from.value() * 3600.0, WithinRel(0.01 / 45.0 * 3600.0, 1e-9));
  CHECK(worth[2].count == 4);
  CHECK_THAT(worth[2].from.value() * 3600.0, WithinRel(8.8941176, 1e-7));
  CHECK(worth[3].count == 8);
  CHECK_THAT(worth[3].from.value() * 3600.0, WithinRel(32.0, 1e-9));
}

TEST_CASE("a count that others beat at every worth is never the choice", "[decide]") {
  // 2 is dearer than 1 for little speed, 8 slower than 4.
  const auto rows =
      priced({observation(1, 100), observation(2, 95), observation(4, 30), observation(8, 31)});
  const auto worth = value_of_waiting(rows, {});
  REQUIRE(worth.size() == 2);
  CHECK(worth[1].count == 4);
  CHECK(value_of_waiting(rows, {4}).back().count == 8);
  CHECK(value_of_waiting(rows, {1, 2, 4, 8}).empty());
  CHECK(value_of_waiting(decision_rows(assemble({observation(1, 9)}), {}), {}).empty());
}

TEST_CASE("the choice by worth is the least of cost and waiting at every worth", "[decide]") {
  const auto rows = priced({observation(1, 100),
                            observation(2, 51),
                            observation(3, 36),
                            observation(4, 27),
                            observation(6, 22),
                            observation(8, 15),
                            observation(16, 14)});
  const auto worth = value_of_waiting(rows, {});
  for (double value = 0.0; value < 0.1; value += 1e-4) {  // USD per second
    const auto total = [value](const DecisionRow& row) {
      return row.cost->value.value() + value * row.same_work.value.value();
    };
    const auto best = std::min_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      return total(a) < total(b);
    });
    const auto next = std::find_if(
        worth.begin(), worth.end(), [&](const auto& one) { return one.from.value() > value; });
    const auto told = std::find_if(rows.begin(), rows.end(), [&](const DecisionRow& row) {
      return row.count == std::prev(next)->count;
    });
    CHECK_THAT(total(*told), WithinRel(total(*best), 1e-12));
  }
}
