// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

DecisionRequest request(double fixed = 9.0) {
  DecisionRequest request;
  request.metrics.prices = hourly(2.10, fixed);
  request.shown_counts = {1, 2, 4, 8, 16, 24, 32, 48, 64};
  return request;
}

std::string line(const DecisionRow& row) {
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
  for (const DecisionRow& row : decision.shown) lines.push_back(line(row));
  CHECK(lines == expected);
}

TEST_CASE("the cheapest, the fastest and the price of pure speed are the published ones",
          "[decide]") {
  const Decision decision = decide_curve(published_curve, 64, request());
  CHECK(decision.choice->cheapest == 8);
  CHECK(decision.choice->plateau == std::vector<int>{7, 8, 9});
  CHECK(decision.choice->fastest == 25);
  CHECK(printed(decision.row(25).cost->value.value(), 3) == "6.445");
  CHECK(printed(decision.row(25).time.value.value() / 3600.0, 3) == "0.105");
  CHECK(printed(decision.choice->price_of_speed.value(), 3) == "2.272");
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
  const model::ScalingCause mixed = cause(published_curve);
  CHECK(mixed.owner.empty());
  CHECK(mixed.mixture.front().first == "serial work");
  CHECK_THAT(mixed.explained, WithinAbs(0.7143, 5e-5));
  CHECK(cause({0.03, 0.0, Seconds(1)}).owner == "serial work");
  CHECK(cause({0.0, 0.01, Seconds(1)}).owner == "communication");
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
