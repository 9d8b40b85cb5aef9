// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/waiting_worth.h"

#include "src/model/decide/table/metrics.h"
#include "tests/catch.h"
#include "tests/unit/model/decide/tables.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::decide;
using namespace scaleworth::decide::example;

namespace {

std::vector<DecisionRow> priced(const std::vector<Observation>& table) {
  MetricsRequest request;
  request.prices = hourly(3.6);  // 0.001 USD per rank and second
  return decision_rows(assemble(table), request);
}

}  // namespace

TEST_CASE("an hour of waiting says by its worth which count to take", "[decide]") {
  // USD .1, .11, .152, .232; 4 to 8 saves 9 s for .08: 32 USD/h; 2 to 4 17 s for .042: 8.894.
  const auto rows =
      priced({observation(1, 100), observation(2, 55), observation(4, 38), observation(8, 29)});
  const auto worth = waiting_worth(rows, {});
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
  const auto worth = waiting_worth(rows, {});
  REQUIRE(worth.size() == 2);
  CHECK(worth[1].count == 4);
  CHECK(waiting_worth(rows, {4}).back().count == 8);
  CHECK(waiting_worth(rows, {1, 2, 4, 8}).empty());
  CHECK(waiting_worth(decision_rows(assemble({observation(1, 9)}), {}), {}).empty());
}

TEST_CASE("the choice by worth is the least of cost and waiting at every worth", "[decide]") {
  const auto rows = priced({observation(1, 100),
                            observation(2, 51),
                            observation(3, 36),
                            observation(4, 27),
                            observation(6, 22),
                            observation(8, 15),
                            observation(16, 14)});
  const auto worth = waiting_worth(rows, {});
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
