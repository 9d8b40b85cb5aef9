// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/evidence.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

TEST_CASE("each row is held against the law and against the law without it", "[decide]") {
  const Decision decision = decide_table(breakdown_table(), {});
  REQUIRE(decision.evidence.rows.size() == 5);
  // Published: fitted T(8) = 205.2 s, measured 206.
  const LawRow& eight = decision.evidence.rows[3];
  CHECK(eight.count == 8);
  CHECK_THAT(eight.fitted.value(), WithinAbs(205.2, 0.05));
  CHECK_THAT(eight.residual, WithinAbs(205.173 / 206.0 - 1.0, 1e-5));
  REQUIRE(eight.left_out);
  CHECK(std::abs(*eight.left_out) > std::abs(eight.residual));
}

TEST_CASE("a throughput in every row is fitted as others fit it", "[decide]") {
  DecisionRequest request;
  request.metrics.work = 1000.0;
  const Decision decision = decide_table(breakdown_table(), request);
  REQUIRE(decision.evidence.throughput);
  CHECK_THAT(decision.evidence.throughput->single.value, WithinRel(1000.0 / 800.0, 0.02));
  CHECK(decision.evidence.throughput->single.interval);
  CHECK_FALSE(decide_table(breakdown_table(), {}).evidence.throughput);
}

TEST_CASE("the noise of a count is that of its median, not of one repeat", "[decide]") {
  std::vector<Observation> rows;
  for (int repeat = 1; repeat <= 4; ++repeat) {
    Observation at = observation(2, 100.0 + repeat);
    at.repeat = repeat;
    rows.push_back(at);
  }
  const auto table = assemble(rows);
  const auto points = points_of_laws(decision_rows(table, {}));
  REQUIRE(points.size() == 1);
  CHECK(points[0].repeats == 4);
  // sd of 101 to 104 is 1.29099, of their median 1.2533 sd / 2; the mean is 102.5.
  CHECK_THAT(*points[0].relative_sd, WithinRel(1.29099 / 102.5 * 1.2533 / 2.0, 1e-4));
}

TEST_CASE("two rows are fitted to no law with an interval", "[decide]") {
  const Decision decision =
      decide_table(assemble({observation(1, 100.0), observation(2, 60.0)}), {});
  CHECK_FALSE(decision.fit);
  CHECK(decision.evidence.rows.empty());
  CHECK_FALSE(decision.evidence.throughput);
  REQUIRE(decision.law);
  CHECK_FALSE(decision.law->serial);
  CHECK_FALSE(decision.law->not_identifiable.empty());
}

TEST_CASE("an optimum beyond four times the largest count carries a warning", "[decide]") {
  model::ScalingLaw law;
  law.fastest = 64;
  CHECK(extrapolation_remarks(law, 16).empty());
  law.fastest = 65;
  REQUIRE(extrapolation_remarks(law, 16).size() == 1);
  CHECK(extrapolation_remarks(law, 16).front().find("4.1 times") != std::string::npos);
}
