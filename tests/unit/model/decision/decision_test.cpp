// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {
DecisionRequest request(double fixed = 9.0) {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, fixed);
  request.shown_counts = {1, 2, 4, 8, 16, 24, 32, 48, 64};
  return request;
}

std::string curve_line(const DecisionRow& row) {
  return fmt::format("{:2} {:8.2f} {:7.2f}% {:7.3f} {:8.3f}",
                     row.count,
                     row.speedup.value,
                     100.0 * row.efficiency.value,
                     row.time.value.value() / 3600.0,
                     row.cost->value.value());
}
}  // namespace

TEST_CASE("the curve of given coefficients is the published table, digit for digit", "[decide]") {
  const Decision decision = decide_curve(published_curve, 64, request());
  const std::vector<std::string> expected = {" 1     1.00  100.00%   1.000   11.100",
                                             " 2     1.94   96.81%   0.516    6.818",
                                             " 4     3.61   90.25%   0.277    4.820",
                                             " 8     6.18   77.28%   0.162    4.173",
                                             "16     8.84   55.25%   0.113    4.819",
                                             "24     9.53   39.71%   0.105    6.232",
                                             "32     9.36   29.26%   0.107    8.139",
                                             "48     8.28   17.26%   0.121   13.254",
                                             "64     7.16   11.19%   0.140   20.027"};
  std::vector<std::string> lines;
  for (const DecisionRow& row : decision.shown) lines.push_back(curve_line(row));
  CHECK(lines == expected);
}

TEST_CASE("the cheapest and the fastest count are the published ones", "[decide]") {
  const Decision decision = decide_curve(published_curve, 64, request());
  CHECK(decision.choice->cheapest == 8);
  CHECK(decision.choice->plateau == std::vector<int>{7, 8, 9});
  CHECK(decision.choice->fastest == 25);
  CHECK(printed(decision.row(25).cost->value.value(), 3) == "6.445");
  CHECK(printed(decision.row(25).time.value.value() / 3600.0, 3) == "0.105");
  CHECK(printed(decision.row(24).speedup.value, 4) == "9.5314");
  CHECK(printed(decision.row(25).speedup.value, 4) == "9.5420");
  CHECK(printed(*decision.continuous_optimum, 4) == "8.3296");
  CHECK(decision.rubric.chosen == 8);
}

TEST_CASE("half the wall-clock price moves the optimum from 8 to 6", "[decide]") {
  const Decision decision = decide_curve(published_curve, 64, request(4.5));
  CHECK(decision.choice->cheapest == 6);
  CHECK(printed(decision.row(6).cost->value.value(), 4) == "3.4058");
  CHECK(printed(decision.row(6).efficiency.value, 4) == "0.8368");
  CHECK(printed(decision.row(6).time.value.value() / 3600.0, 4) == "0.1992");
  CHECK(printed(*decision.continuous_optimum, 2) == "6.39");
}

TEST_CASE("a deadline excludes what misses it and takes the cheapest of the rest", "[decide]") {
  DecisionRequest with_deadline = request();
  with_deadline.rubric.deadline = Seconds(0.15 * 3600.0);
  const Decision decision = decide_curve(published_curve, 64, with_deadline);
  CHECK(decision.rubric.chosen == 9);
  REQUIRE(decision.rubric.exclusions.size() == 1);
  CHECK(decision.rubric.exclusions[0].counts == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(printed(decision.row(9).time.value.value() / 3600.0, 5) == "0.14978");
  CHECK(printed(decision.row(9).cost->value.value(), 5) == "4.17880");
  const double added = decision.row(9).cost->value.value() - decision.row(8).cost->value.value();
  CHECK(printed(added, 5) == "0.00565");
}

TEST_CASE("a deadline that no count meets leaves no choice", "[decide]") {
  DecisionRequest with_deadline = request();
  with_deadline.rubric.deadline = Seconds(0.10 * 3600.0);
  const Decision decision = decide_curve(published_curve, 64, with_deadline);
  CHECK_FALSE(decision.rubric.chosen);
  CHECK(decision.rubric.exclusions.front().counts.size() == 64);
}

TEST_CASE("a budget buys the fastest count within it", "[decide]") {
  // C(16) = 4.819; C(17) = 17 * 2.1 + 9 = 44.7 $/h times .111059 h (.03 + .97/17 + .024) = 4.964.
  DecisionRequest with_budget = request();
  with_budget.rubric.budget = Dollars(4.9);
  CHECK(decide_curve(published_curve, 64, with_budget).rubric.chosen == 16);
}

TEST_CASE("doublings that save time and money are free, the others have a price per hour saved",
          "[decide]") {
  DecisionRequest doubled = request();
  doubled.shown_counts = {};
  const Decision decision = decide_curve(published_curve, 32, doubled);
  const std::vector<std::string> hours = {"0.48350", "0.23950", "0.11525", "0.04863", "0.00631"};
  const std::vector<std::string> dollars = {
      "-4.28220", "-1.99800", "-0.64665", "0.64597", "3.31999"};
  REQUIRE(decision.steps.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const MarginalStep& step = decision.steps[i];
    CHECK(printed(step.time_saved.value() / 3600.0, 5) == hours[i]);
    CHECK(printed(step.cost_added.value(), 5) == dollars[i]);
    CHECK((step.kind == StepKind::free) == (i < 3));
    CHECK(step.speedup_per_dollar.has_value() == (i >= 3));
  }
  CHECK(printed(*decision.steps[3].dollars_per_hour_saved, 2) == "13.28");
  CHECK(printed(*decision.steps[4].dollars_per_hour_saved, 2) == "525.94");
}

TEST_CASE("a curve's cause follows from its coefficients", "[decide]") {
  // At 8: s (1 - 1/8) = .02625, c 7 = .0105, together .03675: 71.4 % and 28.6 %, no single owner.
  const auto cause = [](const Coefficients& coefficients) {
    return gap_cause(coefficient_gap(coefficients, 8, std::nullopt)).value();
  };
  const ScalingCause mixed = cause(published_curve);
  CHECK(mixed.owner == std::nullopt);
  CHECK(mixed.mixture.front().first == Cause::serial);
  CHECK_THAT(mixed.explained, WithinAbs(0.7143, 5e-5));
  CHECK(cause({0.03, 0.0, Seconds(1)}).owner == Cause::serial);
  CHECK(cause({0.0, 0.01, Seconds(1)}).owner == Cause::communication);
}

TEST_CASE("coefficients out of their range are refused", "[decide]") {
  CHECK_THROWS_AS(curve_table({1.5, 0.0, Seconds(1)}, 8), UserError);
  CHECK_THROWS_AS(curve_table({0.1, -0.1, Seconds(1)}, 8), UserError);
  CHECK_THROWS_AS(curve_table({0.1, 0.1, Seconds(0)}, 8), UserError);
  CHECK_THROWS_AS(curve_table({0.1, 0.1, Seconds(1)}, 0), UserError);
  DecisionRequest beyond = request();
  CHECK_THROWS_AS(decide_curve(published_curve, 32, beyond), UserError);
}

TEST_CASE("without a wall-clock price the optimum is continuous only where cost has a bottom",
          "[decide]") {
  CHECK(*continuous_optimum(published_curve, hourly(2.1)) == 1.0);
  CHECK_FALSE(continuous_optimum({0.0, 0.0, Seconds(1)}, hourly(2.1, 9.0)));
  CHECK_FALSE(continuous_optimum(published_curve, hourly(0.0)));
}

namespace {
/// 1000, 520 and 290 s at 1, 2 and 4.
std::vector<TableRow> timed() {
  return {observation(1, 1000), observation(2, 520), observation(4, 290)};
}

/// The last two have meters, the first has none.
std::vector<TableRow> partly_metered() {
  std::vector<TableRow> rows = timed();
  rows[1].energy_j = 3.6e6;
  rows[2].energy_j = 7.2e6;
  return rows;
}

DecisionRequest frugal() {
  DecisionRequest request;
  request.rubric.objective = Objective::energy;
  return request;
}

Decision decided(const std::vector<TableRow>& rows, const DecisionRequest& request) {
  return decide_table(assemble(rows), request);
}
}  // namespace

TEST_CASE("the most frugal is chosen among the rows whose energy is known, the others say why not",
          "[decide]") {
  const RubricResult result = decided(partly_metered(), frugal()).rubric;
  CHECK(result.chosen == 2);
  CHECK(result.passing == 2);
  REQUIRE(result.exclusions.size() == 1);
  CHECK(result.exclusions.front().reason == Finding(FindingId::energy_unknown));
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
  std::vector<TableRow> rows = timed();
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
  std::vector<TableRow> rows = timed();
  for (TableRow& row : rows) row.energy_per_work_j = 3.0;
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
  std::vector<TableRow> rows = timed();
  for (TableRow& row : rows) row.energy_per_work_j = 3.0;
  CHECK_THROWS_AS(decided(rows, request), UserError);
}

namespace {
/// The rubric's rows; the 99th percentile grows with the count and is missing at 32.
std::vector<TableRow> served() {
  std::vector<TableRow> rows = strong_observations();
  for (TableRow& row : rows) {
    row.facts.latencies.push_back({"p50", 0.001 * row.count});
    if (row.count != 32) row.facts.latencies.push_back({"p99", 0.010 * row.count});
  }
  return rows;
}

RubricResult judged(const Rubric& rubric) {
  DecisionRequest request;
  request.metrics.prices = hourly(1.0);
  request.metrics.work = 1.2e6;
  request.rubric = rubric;
  return decide_table(assemble(served()), request).rubric;
}
}  // namespace

TEST_CASE("a count whose latency is too long or was not measured is excluded with its reason",
          "[decide]") {
  Rubric rubric;
  rubric.max_latency = Seconds(0.080);
  rubric.objective = Objective::time;
  const RubricResult result = judged(rubric);
  CHECK(result.chosen == 8);
  REQUIRE(result.exclusions.size() == 1);
  CHECK(result.exclusions.front().counts == std::vector<int>{16, 32});
  CHECK(result.exclusions.front().reason == Finding(FindingId::latency_above, "p99", 80.0));
}

TEST_CASE("another latency is bounded by its name, and an unknown name is refused", "[decide]") {
  Rubric rubric;
  rubric.max_latency = Seconds(0.016);
  rubric.objective = Objective::time;
  rubric.latency = "p50";
  CHECK(judged(rubric).chosen == 16);
  rubric.latency = "p95";
  CHECK_THROWS_AS(judged(rubric), UserError);
}

TEST_CASE("a count that does less work per second than asked is excluded", "[decide]") {
  Rubric rubric;
  rubric.min_throughput = 2000.0;  // 1.2e6 items: at 8 in 560 s 2143, at 4 in 1010 s 1188
  const RubricResult result = judged(rubric);
  CHECK(result.chosen == 8);
  REQUIRE(result.exclusions.size() == 1);
  CHECK(result.exclusions.front().counts == std::vector<int>{1, 2, 4});
}

TEST_CASE("a budget's reason and its refusal carry the label of the currency", "[decide]") {
  Rubric rubric;
  rubric.currency = "EUR";
  rubric.budget = Dollars(0.5);
  CHECK(judged(rubric).exclusions.front().reason == Finding(FindingId::over_budget, 0.5, "EUR"));
  rubric.budget = Dollars(0.0);
  CHECK_THROWS_WITH(judged(rubric), "the budget must be above 0 EUR");
}

TEST_CASE("a throughput without work, and a latency without a column, cannot be judged",
          "[decide]") {
  DecisionRequest request;
  request.rubric.min_throughput = 1.0;
  const ScalingTable table = assemble(strong_observations());
  CHECK_THROWS_AS(decide_table(table, request), UserError);
  request.rubric = {};
  request.rubric.max_latency = Seconds(1.0);
  CHECK_THROWS_AS(decide_table(table, request), UserError);
}

namespace {
std::string refusal(const std::vector<TableRow>& rows) {
  try {
    assemble(rows);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

void number_repeats(std::vector<TableRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].repeat = static_cast<int>(i);
}

TableRow with_work(int count, double time, double work) {
  TableRow at = observation(count, time);
  at.work = work;
  return at;
}
}  // namespace

TEST_CASE("repeats become their median with its interval, and efficiency carries it on",
          "[decide]") {
  std::vector<TableRow> rows;
  for (const double wobble : {0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03}) {
    rows.push_back(observation(1, 100 * wobble));
    rows.push_back(observation(4, 30 * wobble));
  }
  number_repeats(rows);
  const ScalingTable table = assemble(rows);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].time.value == Seconds(100));
  REQUIRE(table.rows[0].time.interval);
  CHECK(table.rows[0].time.interval->low == Seconds(97));  // 7 samples: [least, most] at 95 %
  const auto decided = decision_rows(table, {});
  // ln(1/.97) and ln(1.03) of both times, added as squares:
  // sqrt(.030459^2 + .029559^2) = .042444; 100/30/4 = .83333 * e^-.042444 = .7987.
  REQUIRE(decided[1].efficiency.interval);
  CHECK_THAT(decided[1].efficiency.value, WithinAbs(0.83333, 1e-5));
  CHECK_THAT(decided[1].efficiency.interval->low, WithinAbs(0.7987, 1e-4));
}

TEST_CASE("fewer than six repeats have no interval but a spread", "[decide]") {
  // Rows of one count are repeats, whether the table names them or not.
  const std::vector<TableRow> rows{observation(1, 99), observation(1, 101)};
  const TableRow row = assemble(rows).rows.front();
  CHECK_FALSE(row.time.interval);
  CHECK_THAT(*row.relative_sd, WithinAbs(0.0141421, 1e-6));  // sqrt(2) / 100
}

TEST_CASE("rows that cannot be are refused with their place", "[decide]") {
  CHECK(contains(refusal({observation(0, 10)}), "table.csv:0: the count is 0"));
  CHECK(contains(refusal({observation(1, 0)}), "table.csv:1: the time is 0 s"));
  CHECK(contains(refusal({breakdown(4, 10, 1, -1)}), "breakdown.csv:4: idle is -1 s"));
  TableRow wrong_sum = breakdown(4, 10, 1, 1);
  wrong_sum.time_s = 13;
  CHECK(contains(refusal({wrong_sum}), "the parts add up to 12 s, the time is 13 s"));
  CHECK(contains(refusal({}), "no rows"));
  TableRow repeated = observation(2, 1);
  repeated.repeat = 3;
  CHECK(contains(refusal({repeated, repeated}), "repeat 3 of count 2 stands twice"));
  TableRow empty;
  empty.place = "table.csv:9";
  CHECK(contains(refusal({empty}), "table.csv:9: no time and no parts"));
}

TEST_CASE("columns that contradict each other are refused with the row", "[decide]") {
  const auto row = [](int count, double time, double throughput, double batch) {
    TableRow at = observation(count, time);
    at.throughput = throughput;
    at.facts.batch = batch;
    return at;
  };
  // The batch counts sequences of 512 tokens, the throughput tokens: the same in all rows.
  CHECK(refusal({row(1, 8, 64, 1), row(2, 4.2, 121, 1), row(4, 2.5, 204, 1)}).empty());
  CHECK(contains(refusal({row(1, 8, 64, 1), row(2, 4.2, 2e6, 1), row(4, 2.5, 204, 1)}),
                 "table.csv:2: time x throughput"));
  TableRow work = observation(2, 10);
  work.throughput = 100;
  work.work = 1100;
  CHECK(refusal({work}).empty());
  work.work = 1e6;
  CHECK(contains(refusal({work}), "time x throughput is 1000, the work 1e+06"));
  TableRow energy = observation(2, 10);
  energy.facts.power_w = 700;
  energy.energy_j = 9000;  // 14,000 at full power
  CHECK(refusal({energy}).empty());
  energy.energy_j = 9;
  CHECK(contains(refusal({energy}), "the energy is 9 J, power x time x count 14000 J"));
}

TEST_CASE("a row in another unit than its neighbours is refused", "[decide]") {
  const auto times = [](double last) {
    return refusal({observation(1, 8), observation(2, 4.2), observation(4, last)});
  };
  CHECK(times(2.5).empty());
  CHECK(times(0.05).empty());  // strange, but a cache may do much
  CHECK(times(60.0).empty());  // a bad network may, too
  CHECK(contains(times(2500.0), "from 4.2 s at 2 to 2500 s at 4"));
  CHECK(contains(times(0.0025), "from 4.2 s at 2 to 0.0025 s at 4"));
}

TEST_CASE("a baseline that is not in the table is refused, another is taken", "[decide]") {
  const ScalingTable table = assemble({observation(2, 50), observation(4, 30)});
  MetricsRequest request;
  request.baseline = 1;
  CHECK_THROWS_AS(decision_rows(table, request), UserError);
  request.baseline = 4;
  const auto rows = decision_rows(table, request);
  CHECK_THAT(rows[0].speedup.value, WithinAbs(0.6, 1e-12));
  CHECK_THAT(rows[0].efficiency.value, WithinAbs(1.2, 1e-12));  // .6 over half the count
}

TEST_CASE("weak scaling is recognised and compared by throughput", "[decide]") {
  const ScalingTable weak = assemble({with_work(1, 10, 100), with_work(4, 12.5, 400)});
  CHECK(scaling_of(weak) == Scaling::weak);
  const auto rows = decision_rows(weak, {});
  CHECK_THAT(rows[1].speedup.value, WithinAbs(3.2, 1e-12));     // 32 items/s over 10
  CHECK_THAT(rows[1].efficiency.value, WithinAbs(0.8, 1e-12));  // T1 / T4
  CHECK(scaling_of(assemble({with_work(1, 10, 100), with_work(4, 5, 200)})) == Scaling::mixed);
  CHECK(scaling_of(assemble(strong_observations())) == Scaling::strong);
}

TEST_CASE("where a table has communication and no compute, compute is the rest", "[decide]") {
  std::vector<TableRow> rows{observation(1, 100), observation(4, 32)};
  const auto communication = index_of(PartGroup::communication);
  rows[0].parts_s[communication] = 0.0;
  CHECK_THROWS_AS(assemble(rows), UserError);  // half of it is no column
  rows[1].parts_s[communication] = 8.0;
  const ScalingTable table = assemble(rows);
  REQUIRE(std::ranges::all_of(table.rows, &TableRow::has_parts));
  CHECK(table.rows[1].parts_s[0] == 24.0);
  REQUIRE(table.remarks.size() == 1);
  CHECK(table.remarks[0].id == FindingId::compute_is_the_rest);
  rows[1].parts_s[communication] = 33.0;
  CHECK_THROWS_AS(assemble(rows), UserError);  // more than the time
}

TEST_CASE("superlinear rows are kept and explained", "[decide]") {
  const Decision decision =
      decide_table(assemble({observation(1, 100), observation(2, 45)}), DecisionRequest{});
  CHECK_THAT(decision.rows[1].efficiency.value, WithinAbs(1.1111, 5e-5));
  REQUIRE(decision.remarks.size() == 1);
  CHECK(decision.remarks[0].id == FindingId::superlinear_one);
}

TEST_CASE("one row, or time that only rises, gives a result that says so", "[decide]") {
  const Decision one = decide_table(assemble({observation(4, 100)}), DecisionRequest{});
  CHECK(one.diagnosis.no_cause == Finding(FindingId::nothing_to_explain));
  CHECK_FALSE(one.fit);
  const Decision rising =
      decide_table(assemble({observation(1, 10), observation(2, 20)}), DecisionRequest{});
  CHECK(rising.rubric.chosen == 1);
  CHECK(rising.remarks[0] == Finding(FindingId::never_faster, 1));
  CHECK_FALSE(rising.fit);
  CHECK_FALSE(rising.law->serial);
}

TEST_CASE("a cliff at the end of a table is flagged", "[decide]") {
  // Efficient to 32, then no faster: each law but a change of regime expects about half the time.
  std::vector<TableRow> rows;
  for (const int count : {1, 2, 4, 8, 16, 32}) rows.push_back(observation(count, 640.0 / count));
  const auto decided = [&] { return decide_table(assemble(rows), DecisionRequest{}); };
  CHECK(decided().remarks.empty());
  rows.push_back(observation(64, 25.0));
  const Decision cliff = decided();
  REQUIRE(cliff.remarks.size() == 1);
  CHECK(cliff.remarks.front().id == FindingId::no_law_predicts);
  CHECK_FALSE(cliff.law->fastest);
  CHECK(cliff.law->curve.empty());
}

TEST_CASE("a count that falls farther than coherency lets it is a cliff", "[decide]") {
  const auto cliff = [](std::vector<TableRow> rows) {
    return decide_table(assemble(std::move(rows)), {}).cliff;
  };
  // Samples per second 4.0, 7.77, 15.2, 4.84: 8 has 0.318 of the speed-up of 4.
  CHECK(cliff({observation(1, 100),
               observation(2, 51.5),
               observation(4, 26.3),
               observation(8, 82.6)}) == 8);
  // T = 100 (1/K + 0.04 (K - 1)), the fastest at 5: 8 is slower than 4, by no cliff.
  CHECK_FALSE(
      cliff({observation(1, 100), observation(2, 54), observation(4, 37), observation(8, 40.5)}));
  // 2/3 is the least that it leaves at twice the count; 0.6 of it is a cliff.
  CHECK_FALSE(cliff({observation(1, 100), observation(2, 149)}));
  CHECK(cliff({observation(1, 100), observation(2, 167)}) == 2);
  // What falls on is no second cliff, and a count beyond may recover.
  CHECK(cliff({observation(1, 100), observation(2, 50), observation(4, 100), observation(8, 13)}) ==
        4);
}

TEST_CASE("rows that cannot be one program on more machines are warned of", "[decide]") {
  const auto warnings = [](std::vector<TableRow> rows, Rubric rubric = {}) {
    DecisionRequest asked;
    asked.rubric = rubric;
    return decide_table(assemble(std::move(rows)), asked).warnings;
  };
  CHECK(warnings({observation(1, 100), observation(2, 52), observation(4, 28)}).empty());
  // Caches may give 8 %.
  CHECK(warnings({observation(1, 100), observation(2, 46.3)}).empty());
  const auto gains = warnings({observation(1, 100), observation(2, 52), observation(4, 18)});
  REQUIRE(gains.size() == 1);
  CHECK(gains.front() == Finding(FindingId::efficiency_too_high, 100.0 / 18 / 4, 4, 1));
  // 115 % at 4, which is taken whether or not the first row is 15 % slow, is a remark.
  CHECK(warnings({observation(128, 100), observation(256, 47.5), observation(512, 21.7)}).empty());
  std::vector<TableRow> losses{observation(1, 100), observation(2, 52), observation(4, 28)};
  // One of three did other work: it is left out. Where both others did, the first is warned of,
  // too.
  const std::array<std::array<double, 3>, 2> qualities{{{2.31, 2.32, 2.9}, {2.31, 2.88, 2.9}}};
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i].quality = qualities[0][i];
  CHECK(warnings(losses).empty());
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i].quality = qualities[1][i];
  const auto other_work = warnings(losses);
  REQUIRE(other_work.size() == 1);
  CHECK(other_work.front() ==
        Finding(FindingId::quality_off, 2, 2.88, (2.88 - 2.31) / 2.31, 1, 2.31));
  // A tolerance leaves them out instead.
  Rubric tolerant;
  tolerant.quality_tolerance = 0.1;
  CHECK(warnings(losses, tolerant).empty());
}
