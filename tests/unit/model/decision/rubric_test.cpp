// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/laws/classic_laws.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

#include <cmath>
#include <random>

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {

DecisionRequest request() {
  DecisionRequest request;
  request.metrics.prices = hourly(1.0);
  request.metrics.work = 1.2e6;
  request.rubric.efficiency_threshold = 0.70;
  request.rubric.quality_tolerance = 0.005;
  return request;
}

Decision decided() {
  return decide_table(assemble(strong_observations()), request());
}

std::string rubric_line(const DecisionRow& row) {
  return fmt::format("{:2} {:4.0f} {:8.2f} {:6.3f} {:8.3f} {:6.2f} {:11.3e} {:8.0f}",
                     row.count,
                     row.time.value.value(),
                     row.speedup.value,
                     row.efficiency.value,
                     *row.quality,
                     row.cost->value.value(),
                     row.cost_per_work->value(),
                     *row.work_per_dollar);
}

}  // namespace

TEST_CASE("the rubric's table is the published one, digit for digit", "[decide]") {
  const std::vector<std::string> expected = {
      " 1 3600     1.00  1.000    0.871   1.00   8.333e-07  1200000",
      " 2 1880     1.91  0.957    0.871   1.04   8.704e-07  1148936",
      " 4 1010     3.56  0.891    0.871   1.12   9.352e-07  1069307",
      " 8  560     6.43  0.804    0.871   1.24   1.037e-06   964286",
      "16  340    10.59  0.662    0.870   1.51   1.259e-06   794118",
      "32  250    14.40  0.450    0.871   2.22   1.852e-06   540000"};
  std::vector<std::string> lines;
  for (const DecisionRow& row : decided().rows) lines.push_back(rubric_line(row));
  CHECK(lines == expected);
}

TEST_CASE("the rubric's verdict is 8, the cheapest 1, and the quality held", "[decide]") {
  const Decision decision = decided();
  CHECK(decision.rubric.chosen == 8);
  CHECK(decision.rubric.largest_efficient == 8);
  CHECK(decision.choice->cheapest == 1);
  CHECK(decision.named.fastest == 32);
  CHECK(*decision.rubric.quality_held);
  CHECK(printed(*decision.rubric.quality_drift, 3) == "0.001");
  REQUIRE(decision.rubric.exclusions.size() == 1);
  CHECK(decision.rubric.exclusions[0].counts == std::vector<int>{16, 32});
}

TEST_CASE("a row whose quality broke is excluded and the verdict stays 8", "[decide]") {
  auto rows = strong_observations();
  rows.back().quality = 0.860;
  const Decision decision = decide_table(assemble(rows), request());
  CHECK(decision.rubric.chosen == 8);
  CHECK_FALSE(*decision.rubric.quality_held);
  CHECK(decision.rubric.exclusions.front().counts == std::vector<int>{32});
}

TEST_CASE("a row without quality is unproven, and one at the tolerance passes", "[decide]") {
  auto rows = strong_observations();
  rows[1].quality = std::nullopt;
  rows[2].quality = 0.866;  // 0.871 - 0.005
  const Decision decision = decide_table(assemble(rows), request());
  CHECK(decision.rubric.unproven == std::vector<int>{2});
  CHECK(*decision.rubric.quality_held);
}

TEST_CASE("Amdahl by plain least squares is the published fit", "[decide]") {
  const Decision decision = decided();
  REQUIRE(decision.amdahl);
  CHECK(printed(decision.amdahl->serial, 7) == "0.0376122");
  CHECK(printed(*decision.amdahl->ceiling, 4) == "26.5871");
  CHECK(printed(decision.amdahl->predicted_at_largest, 2) == "14.77");
  const double serial = decision.amdahl->serial;
  CHECK(printed(1.0 + 1.0 / serial, 3) == "27.587");  // where efficiency is one half
  CHECK(printed(amdahl_speedup(serial, 27) / 27, 4) == "0.5056");
  CHECK(printed(amdahl_speedup(serial, 28) / 28, 4) == "0.4961");
  CHECK_FALSE(plain_amdahl_serial({{1.0, 1.0}}));
}

TEST_CASE("the missing folds at 32 divide as published, by either fit", "[decide]") {
  const Decision decision = decided();
  const double measured = decision.row(32).speedup.value;
  CHECK(printed(32.0 - measured, 2) == "17.60");
  CHECK(printed(32.0 - decision.amdahl->predicted_at_largest, 2) == "17.23");
  CHECK(printed(decision.amdahl->predicted_at_largest - measured, 2) == "0.37");
  REQUIRE(decision.fit);
  const double serial_only = amdahl_speedup(decision.fit->serial, 32);
  const double both = 1.0 / relative_time(decision.fit->serial, decision.fit->coherency, 32);
  CHECK(printed(32.0 - serial_only, 2) == "15.33");
  CHECK(printed(serial_only - both, 2) == "2.04");
}

namespace {
/// Counts 1, 2 and 4 of 100 s, 50 s and 25 s with three runs each; `noise` draws a run over that.
template <class Noise>
std::vector<DecisionRow> repeated_rows(Noise noise) {
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 4}) {
    for (int repeat = 1; repeat <= 3; ++repeat) {
      rows.push_back(observation(count, 100.0 / count * noise()));
      rows.back().repeat = repeat;
    }
  }
  return decision_rows(assemble(rows), {});
}

/// Share of further runs at 4 that meet the least deadline that the gate lets pass.
template <class Noise>
double share_in_time(Noise noise, double probability) {
  constexpr int tables = 4000;
  int kept = 0;
  for (int i = 0; i < tables; ++i) {
    const Seconds latest = repeated_rows(noise)[2].latest(probability);
    if (25.0 * noise() <= latest.value()) ++kept;
  }
  return static_cast<double>(kept) / tables;
}
}  // namespace

TEST_CASE("the deadline gate holds for one further run as often as it was asked to",
          "[decide][statistics]") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const auto even = [&] { return 1.0 + 0.03 * normal(random); };
  const auto skewed = [&] { return std::exp(0.06 * normal(random)); };
  for (const double probability : {0.5, 0.8, 0.95}) {
    CHECK_THAT(share_in_time(even, probability), WithinAbs(probability, 0.02));
    CHECK_THAT(share_in_time(skewed, probability), WithinAbs(probability, 0.02));
  }
}

TEST_CASE("a deadline that the median meets excludes a count whose runs spread beyond it",
          "[decide]") {
  ScalingTable table = assemble(strong_observations());
  TableRow& last = table.rows.back();
  last.time.samples = 9;
  last.repeats = 9;
  last.time.interval = Interval<Seconds>{Seconds(249.0), Seconds(251.0)};  // of the median
  last.relative_sd = 0.05;
  DecisionRequest asked = request();
  asked.rubric = {};
  // 250 (1 + 1.85955 * 0.05 sqrt(1 + pi / (18 + pi - 2))) = 275.1 s.
  const auto passing = [&](double deadline_s) {
    asked.rubric.deadline = Seconds(deadline_s);
    return decide_table(table, asked).rubric.passing;
  };
  CHECK(passing(275.0) == 0);
  CHECK(passing(275.4) == 1);
  // Of the steps of one run the spread says nothing of another run: the interval holds.
  last.repeats_are_steps = true;
  CHECK(passing(250.9) == 0);
  CHECK(passing(251.1) == 1);
}

TEST_CASE("Karp-Flatt is of strong scaling only", "[decide]") {
  // Amdahl with s = .1 at 1, 2, 4, 8: 100 (.1 + .9/K).
  const std::vector<TableRow> amdahl{
      observation(1, 100), observation(2, 55), observation(4, 32.5), observation(8, 21.25)};
  const auto strong = decision_rows(assemble(amdahl), {});
  for (const DecisionRow& row : strong) {
    if (row.count > 1) CHECK_THAT(row.karp_flatt->value, WithinAbs(0.1, 1e-12));
  }
  const auto none = [](const std::vector<DecisionRow>& rows) {
    return !any_has(rows, &DecisionRow::karp_flatt);
  };
  CHECK(none(decision_rows(settle_scaling(assemble(amdahl), Scaling::weak), {})));
  std::vector<TableRow> growing = amdahl;
  for (TableRow& row : growing) row.work = 10.0 + 5.0 * row.count;  // neither strong nor weak
  CHECK(none(decision_rows(assemble(growing), {})));
  CHECK(none(decision_rows(assemble(amdahl, {TimeBasis::run, Axis::load}), {})));
}

TEST_CASE("Karp-Flatt stays level where the loss is serial", "[decide]") {
  std::vector<std::string> values;
  for (const DecisionRow& row : decided().rows) {
    if (row.karp_flatt) values.push_back(printed(row.karp_flatt->value, 4));
  }
  CHECK(values == std::vector<std::string>{"0.0444", "0.0407", "0.0349", "0.0341", "0.0394"});
}

TEST_CASE("without parts no cause is named and the reason says what is missing", "[decide]") {
  const Decision decision = decided();
  CHECK_FALSE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.no_cause == Finding(FindingId::no_parts));
}

TEST_CASE("the objective is time under a threshold, balanced without one, cost at a price of time",
          "[decide]") {
  const auto chosen = [](const DecisionRequest& request) {
    return decide_table(assemble(strong_observations()), request).rubric.chosen;
  };
  DecisionRequest no_gate = request();
  no_gate.rubric = {};
  // K T^2 in units of 10^6 s^2: 13.0, 7.1, 4.1, 2.5, 1.85, 2.0.
  CHECK(chosen(no_gate) == 16);
  DecisionRequest clocked = no_gate;
  clocked.metrics.prices->fixed = DollarsPerSecond(1000.0 / 3600.0);
  CHECK(chosen(clocked) == 32);
  no_gate.metrics.prices = std::nullopt;
  CHECK(chosen(no_gate) == 16);
  DecisionRequest by_cost = request();
  by_cost.rubric.objective = Objective::cost;
  CHECK(chosen(by_cost) == 1);
  const NamedCounts named = decide_table(assemble(strong_observations()), request()).named;
  CHECK(named.cheapest == 1);
  CHECK(named.balanced == 16);
  CHECK(named.fastest == 32);
}

TEST_CASE("gates that cannot be judged are refused", "[decide]") {
  const ScalingTable table = assemble(strong_observations());
  DecisionRequest asked = request();
  asked.rubric.efficiency_threshold = 0.0;
  CHECK_THROWS_AS(decide_table(table, asked), UserError);
  asked = request();
  asked.metrics.prices = std::nullopt;
  asked.rubric.budget = Dollars(1);
  CHECK_THROWS_AS(decide_table(table, asked), UserError);
  asked = request();
  asked.rubric.objective = Objective::energy;
  CHECK_THROWS_AS(decide_table(table, asked), UserError);
  asked = request();
  asked.regimes = {{"spot", PricePart{0.0, {}}}};
  CHECK_THROWS_AS(decide_table(table, asked), UserError);
}
