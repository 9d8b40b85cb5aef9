// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/decision/causes.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/decision/scaling_table.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

using namespace scaleworth;
using namespace scaleworth::model;
using namespace scaleworth::model::example;

namespace {

TableRow priced(int count, double time_s, double usd_per_hour) {
  TableRow at = observation(count, time_s);
  at.facts.price = dollars_per_hour(usd_per_hour);
  return at;
}

MeasuredCount measured(int ranks, double step, double tokens) {
  MeasuredCount count;
  count.ranks = ranks;
  count.tokens = tokens;
  count.global_batch = 8;
  count.step_s = {step, step, step};
  RankLedger ledger;
  for (const Part part : probe_parts) ledger.parts[index_of(part)] = std::vector<double>(3, 0.0);
  ledger.parts[index_of(Part::compute)] = {0.6 * step, 0.6 * step, 0.6 * step};
  ledger.parts[index_of(Part::exposed_transfer)] = {0.3 * step, 0.3 * step, 0.3 * step};
  ledger.parts[index_of(Part::host)] = {0.1 * step, 0.1 * step, 0.1 * step};
  count.ledger = {ledger};
  return count;
}

}  // namespace

TEST_CASE("weak scaling has a scaled speed-up and Gustafson's fraction", "[decide]") {
  const ScalingTable declared =
      settle_scaling(assemble({observation(1, 10), observation(4, 12.5)}), Scaling::weak);
  const auto rows = decision_rows(declared, {});
  CHECK_THAT(rows[1].speedup.value, WithinRel(3.2, 1e-12));     // 4 times the work in 1.25 the time
  CHECK_THAT(rows[1].efficiency.value, WithinRel(0.8, 1e-12));  // T1 / T4
  REQUIRE(rows[1].gustafson_serial);
  CHECK_THAT(rows[1].gustafson_serial->value, WithinRel(0.8 / 3.0, 1e-12));  // (4 - 3.2) / (4 - 1)
  CHECK_FALSE(rows[0].gustafson_serial);
  CHECK_FALSE(rows[1].throughput);  // the work is declared, not counted
  CHECK_FALSE(
      decision_rows(assemble({observation(1, 10), observation(4, 3)}), {})[1].gustafson_serial);
}

TEST_CASE("a row pays its own price", "[decide]") {
  const ScalingTable table = assemble({priced(1, 3600, 2), priced(2, 1800, 3), priced(4, 1000, 1)});
  const auto price = rank_price(table, {});
  REQUIRE(price);
  MetricsRequest request;
  request.prices = Prices{*price};
  const auto rows = decision_rows(table, request);
  CHECK_THAT(rows[0].cost->value.value(), WithinRel(2.0, 1e-12));
  CHECK_THAT(rows[1].cost->value.value(), WithinRel(3.0, 1e-12));
  CHECK_THAT(rows[2].cost->value.value(), WithinRel(4000.0 / 3600.0, 1e-12));
  CHECK(choose_count(*request.prices, count_times(rows))->cheapest == 4);
  CHECK_FALSE(rank_price(assemble({observation(1, 10)}), {}));
}

TEST_CASE("superlinear rows are explained by what the table says", "[decide]") {
  const auto reason = [](const TableRow& baseline, const TableRow& row) {
    const auto remarks = superlinear_remarks(decision_rows(assemble({baseline, row}), {}));
    REQUIRE(remarks.size() == 1);
    return remarks.front().arguments.at(2);
  };
  CHECK(reason(breakdown(1, 100, 0, 0), breakdown(2, 40, 5, 0)) ==
        Finding(FindingId::compute_shrank));
  CHECK(reason(breakdown(1, 80, 0, 20), breakdown(2, 40, 0, 5)) ==
        Finding(FindingId::baseline_slow, "idle"));
  CHECK(reason(observation(1, 100), observation(2, 49)) == Finding(FindingId::one_run_each));
  CHECK(reason(observation(1, 100), observation(2, 40)) == Finding(FindingId::gain_unexplained));
  TableRow sharded = observation(2, 40);
  sharded.facts.layout.tensor = 2;
  CHECK(reason(observation(1, 100), sharded) == Finding(FindingId::layout_of_another));
}

TEST_CASE("superlinear rows of one reason share a sentence", "[decide]") {
  const auto remarks = superlinear_remarks(decision_rows(
      assemble({observation(1, 100), observation(2, 40), observation(4, 24.9), observation(8, 10)}),
      {}));
  REQUIRE(remarks.size() == 2);
  CHECK(remarks[0].id == FindingId::superlinear);
  CHECK(remarks[0].arguments.at(0) == "2, 8");
  CHECK(remarks[0].arguments.at(1) == 1.25);
  CHECK(remarks[1].id == FindingId::superlinear_one);
  CHECK(remarks[1].arguments.at(0) == "4");
  CHECK(remarks[1].arguments.at(2) == Finding(FindingId::one_run_each));
}

TEST_CASE("a batch or a layout that changes with the count is said", "[decide]") {
  std::vector<TableRow> rows{observation(1, 10), observation(2, 10)};
  rows[0].facts.batch = 8;
  rows[1].facts.batch = 16;
  rows[1].facts.layout.tensor = 2;
  const auto run = table_remarks(assemble(rows));
  REQUIRE(run.size() == 2);
  CHECK(run[0] == Finding(FindingId::batch_grows_with_times, 8.0, 16.0));
  CHECK(run[1] == Finding(FindingId::layout_changes, "none given", 1, "TP 2", 2));
  const auto step = table_remarks(assemble(rows, {TimeBasis::step, Axis::ranks}));
  CHECK(step[0].id == FindingId::times_of_one_step);
  CHECK(step[1].id == FindingId::batch_grows);
}

TEST_CASE("our own runs are tables with parts", "[decide]") {
  const std::vector<MeasuredMode> modes{
      {BatchScaling::strong, {measured(1, 1.0, 100), measured(2, 0.6, 100)}},
      {BatchScaling::weak, {measured(1, 1.0, 100), measured(2, 1.1, 200)}}};
  const ScalingTable strong = run_table(modes, {});
  REQUIRE(strong.rows.size() == 2);
  CHECK(scaling_of(strong) == Scaling::strong);
  CHECK_THAT(*strong.rows[1].parts_s[0], WithinRel(0.36, 1e-12));
  CHECK_THAT(*strong.rows[1].parts_s[1], WithinRel(0.18, 1e-12));
  CHECK(*strong.rows[1].parts_s[2] == 0.0);
  CHECK_THAT(*strong.rows[1].parts_s[4], WithinRel(0.06, 1e-12));
  CHECK(strong.remarks.front() == Finding(FindingId::other_scaling_measured, "strong", "weak"));
  // A run of 1000 units takes ten steps of 100.
  const ScalingTable whole = of_work(strong, 1000.0);
  CHECK_THAT(whole.rows[1].time.value.value(), WithinRel(6.0, 1e-12));
  CHECK_THAT(*whole.rows[1].parts_s[1], WithinRel(1.8, 1e-12));
  CHECK(scaling_of(run_table(modes, Scaling::weak)) == Scaling::weak);
  CHECK_THROWS_AS(run_table({}, {}), UserError);
  CHECK_THROWS_AS(run_table({modes[0]}, Scaling::weak), UserError);
}
