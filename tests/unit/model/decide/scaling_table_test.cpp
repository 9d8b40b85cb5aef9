// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

std::string refusal(const std::vector<Observation>& rows) {
  try {
    assemble(rows);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void number_repeats(std::vector<Observation>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].repeat = static_cast<int>(i);
}

Observation with_work(int count, double time, double work) {
  Observation at = observation(count, time);
  at.work = work;
  return at;
}

}  // namespace

TEST_CASE("repeats become their median with its interval, and efficiency carries it on",
          "[decide]") {
  std::vector<Observation> rows;
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
  std::vector<Observation> rows{observation(1, 99), observation(1, 101)};
  number_repeats(rows);
  const TableRow row = assemble(rows).rows.front();
  CHECK_FALSE(row.time.interval);
  CHECK_THAT(*row.relative_sd, WithinAbs(0.0141421, 1e-6));  // sqrt(2) / 100
}

TEST_CASE("rows that cannot be are refused with their place", "[decide]") {
  CHECK(mentions(refusal({observation(0, 10)}), "table.csv:0: the count is 0"));
  CHECK(mentions(refusal({observation(1, 0)}), "table.csv:1: the time is 0 s"));
  CHECK(mentions(refusal({observation(2, 1), observation(2, 1)}), "stands already at table.csv:2"));
  CHECK(mentions(refusal({breakdown(4, 10, 1, -1)}), "breakdown.csv:4: idle is -1 s"));
  Observation wrong_sum = breakdown(4, 10, 1, 1);
  wrong_sum.time_s = 13;
  CHECK(mentions(refusal({wrong_sum}), "the parts add up to 12 s, the time is 13 s"));
  CHECK(mentions(refusal({}), "no rows"));
  Observation repeated = observation(2, 1);
  repeated.repeat = 3;
  CHECK(mentions(refusal({repeated, repeated}), "repeat 3 of count 2 stands twice"));
  Observation empty;
  empty.place = "table.csv:9";
  CHECK(mentions(refusal({empty}), "table.csv:9: no time and no parts"));
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
  std::vector<Observation> rows{observation(1, 100), observation(4, 32)};
  const auto communication = static_cast<std::size_t>(TimePart::communication);
  rows[0].parts_s[communication] = 0.0;
  CHECK_THROWS_AS(assemble(rows), UserError);  // half of it is no column
  rows[1].parts_s[communication] = 8.0;
  const ScalingTable table = assemble(rows);
  REQUIRE(table.has_parts());
  CHECK(table.rows[1].parts_s[0] == 24.0);
  REQUIRE(table.remarks.size() == 1);
  CHECK(mentions(table.remarks[0], "what the other parts leave"));
  rows[1].parts_s[communication] = 33.0;
  CHECK_THROWS_AS(assemble(rows), UserError);  // more than the time
}

TEST_CASE("superlinear rows are kept and explained", "[decide]") {
  const Decision decision =
      decide_table(assemble({observation(1, 100), observation(2, 45)}), DecisionRequest{});
  CHECK_THAT(decision.rows[1].efficiency.value, WithinAbs(1.1111, 5e-5));
  REQUIRE(decision.remarks.size() == 1);
  CHECK(mentions(decision.remarks[0], "superlinear"));
}

TEST_CASE("one row, or time that only rises, gives a result that says so", "[decide]") {
  const Decision one = decide_table(assemble({observation(4, 100)}), DecisionRequest{});
  CHECK(mentions(one.no_cause, "measure a second"));
  CHECK_FALSE(one.fit);
  const Decision rising =
      decide_table(assemble({observation(1, 10), observation(2, 20)}), DecisionRequest{});
  CHECK(rising.rubric.chosen == 1);
  CHECK(mentions(rising.remarks[0], "no count is faster than 1"));
  CHECK_FALSE(rising.fit);
  CHECK_FALSE(rising.law->serial);
}

TEST_CASE("a cliff at the end of a table is flagged", "[decide]") {
  // Efficient to 32, then no faster: each law but a change of regime expects about half the time.
  std::vector<Observation> rows;
  for (const int count : {1, 2, 4, 8, 16, 32}) rows.push_back(observation(count, 640.0 / count));
  const auto decided = [&] { return decide_table(assemble(rows), DecisionRequest{}); };
  CHECK(decided().remarks.empty());
  rows.push_back(observation(64, 25.0));
  const Decision cliff = decided();
  REQUIRE(cliff.remarks.size() == 1);
  CHECK(mentions(cliff.remarks.front(), "change of regime"));
  CHECK_FALSE(cliff.law->fastest);
  CHECK(cliff.law->curve.empty());
}
