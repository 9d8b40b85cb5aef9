// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

/// The rubric's rows; the 99th percentile grows with the count and is missing at 32.
std::vector<Observation> served() {
  std::vector<Observation> rows = strong_observations();
  for (Observation& row : rows) {
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
  CHECK(result.exclusions.front().reason == "latency p99 above 80 ms or not measured");
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
