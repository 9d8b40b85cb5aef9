// SPDX-License-Identifier: Apache-2.0
#include "src/model/cost/bill.h"

#include "src/core/error.h"
#include "tests/catch.h"

using namespace scaleworth;
using namespace scaleworth::model;

namespace {

/// 2 USD per rank-hour, 3 per hour fixed, 1 per hour of storage, 6 for waiting, 5 once.
BillTerms terms() {
  return {dollars_per_hour(2),
          dollars_per_hour(3),
          dollars_per_hour(1),
          dollars_per_hour(6),
          Dollars(5)};
}

}  // namespace

TEST_CASE("the lines of a bill add up to the cost of the job", "[cost]") {
  // 4 ranks for half an hour: 4 * 2 * .5 = 4, 3 * .5 = 1.5, .5, 5, 6 * .5 = 3; 14 together.
  const BillLines lines = bill_lines(terms(), 4, Seconds(1800));
  CHECK_THAT(lines.ranks.value(), WithinRel(4.0, 1e-12));
  CHECK_THAT(lines.fixed.value(), WithinRel(1.5, 1e-12));
  CHECK_THAT(lines.storage.value(), WithinRel(0.5, 1e-12));
  CHECK_THAT(lines.egress.value(), WithinRel(5.0, 1e-12));
  CHECK_THAT(lines.waiting.value(), WithinRel(3.0, 1e-12));
  CHECK_THAT(lines.total().value(), WithinRel(14.0, 1e-12));
  CHECK_THAT(job_cost(prices_of(terms()), 4, Seconds(1800)).value(), WithinRel(14.0, 1e-12));
}

TEST_CASE("the value of time acts exactly like a fixed price per hour", "[cost]") {
  BillTerms waiting{dollars_per_hour(2)};
  waiting.value_of_time = dollars_per_hour(9);
  BillTerms fixed{dollars_per_hour(2)};
  fixed.fixed = dollars_per_hour(9);
  CHECK(prices_of(waiting).fixed == prices_of(fixed).fixed);
  CHECK(bill_lines(waiting, 8, Seconds(600)).total() == bill_lines(fixed, 8, Seconds(600)).total());
}

TEST_CASE("storage runs with the clock and egress is paid once", "[cost]") {
  // 7300 GB at 0.10 USD a month of 730 h: 1 USD per hour.
  CHECK_THAT(storage_rate(7300, 0.10).value() * 3600.0, WithinRel(1.0, 1e-12));
  CHECK_THAT(egress_cost(200, 0.09).value(), WithinRel(18.0, 1e-12));
  CHECK_THROWS_AS(storage_rate(-1, 0.10), UserError);
  CHECK_THROWS_AS(egress_cost(1, -0.10), UserError);
}

TEST_CASE("what is paid once per run is no part of the cost of a million tokens", "[cost]") {
  const Prices prices{dollars_per_hour(3.6), DollarsPerSecond(0), Dollars(7)};
  CHECK_THAT(cost_per_million_tokens(prices, 1, 1e6).value(), WithinRel(0.001, 1e-12));
}
