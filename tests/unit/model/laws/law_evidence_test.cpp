// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/law_evidence.h"

#include "src/core/error.h"
#include "src/model/laws/contention_law.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/tables.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::model;

namespace {
/// Times of s = 0.02, c = 0.001 up to 8 ranks; `factor` times as long beyond.
std::vector<DecisionRow> rows_to(int most, double factor) {
  std::vector<DecisionRow> rows;
  for (int count = 1; count <= most; count *= 2) {
    DecisionRow row;
    row.count = count;
    const double time = relative_time(0.02, 0.001, count) * (count > 8 ? factor : 1.0);
    row.time = {Seconds(time), {}};
    row.same_work = row.time;
    rows.push_back(row);
  }
  return rows;
}

bool says(const std::vector<Finding>& remarks, FindingId id) {
  return remarks.size() == 1 && remarks.front().id == id;
}

double number(const Finding& finding, std::size_t which) {
  return std::get<double>(finding.arguments.at(which).value);
}
}  // namespace

TEST_CASE("a count beyond the domain that takes longer than predicted is a change of regime",
          "[decide]") {
  const auto cliff = domain_remarks(rows_to(16, 1.4), 8);
  REQUIRE(says(cliff, FindingId::domain_cliff));
  CHECK(cliff.front().arguments.at(0) == 16);
  CHECK_THAT(number(cliff.front(), 2), WithinRel(40.0, 1e-6));
  const auto none = domain_remarks(rows_to(16, 1.02), 8);
  REQUIRE(says(none, FindingId::domain_without_cliff));
  CHECK_THAT(number(none.front(), 2), WithinRel(2.0, 1e-6));
}

TEST_CASE("without counts beyond the domain, or with few within, what is missing is said",
          "[decide]") {
  CHECK(says(domain_remarks(rows_to(8, 1.0), 8), FindingId::domain_not_left));
  CHECK(says(domain_remarks(rows_to(16, 1.4), 2), FindingId::domain_too_few_within));
  std::vector<DecisionRow> far = rows_to(32, 1.4);
  far.erase(far.begin(), far.begin() + 4);
  CHECK(domain_remarks(far, 8).empty());
  CHECK_THROWS_AS(domain_remarks(far, 1), UserError);
}

TEST_CASE("tensor parallelism wider than the domain is named", "[decide]") {
  std::vector<DecisionRow> rows = rows_to(32, 1.0);
  rows.erase(rows.begin(), rows.begin() + 4);
  rows.back().facts.layout.tensor = 16;
  CHECK(domain_remarks(rows, 8) ==
        std::vector{Finding(FindingId::tensor_leaves_domain, 32, 16, 8)});
}

using namespace scaleworth::model::example;

TEST_CASE("the law of a published table gives its published times", "[decide]") {
  const Decision decision = decide_table(breakdown_table(), {});
  // Published: fitted T(8) = 205.2 s, measured 206.
  REQUIRE(decision.fit);
  CHECK_THAT(decision.fit->time(8.0), WithinAbs(205.2, 0.05));
}

TEST_CASE("the noise of a count is that of its median, not of one repeat", "[decide]") {
  std::vector<TableRow> rows;
  for (int repeat = 1; repeat <= 4; ++repeat) {
    TableRow at = observation(2, 100.0 + repeat);
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

TEST_CASE("the noise of a count whose time is a mean is the mean's", "[decide]") {
  TableRow row = observation(2, 100.0);
  row.time = {Seconds(100.0), std::nullopt, 16};
  row.relative_sd = 0.02;
  row.mean_of = 9.0;  // of the 16
  DecisionRow of_laws;
  static_cast<TableRow&>(of_laws) = row;
  const auto point = point_of_law(of_laws, 2.0, 100.0);
  CHECK_THAT(*point.relative_sd, WithinRel(0.02 / 3.0, 1e-12));
  CHECK(point.repeats == 16);
}

TEST_CASE("two rows are fitted to no law with an interval", "[decide]") {
  const Decision decision =
      decide_table(assemble({observation(1, 100.0), observation(2, 60.0)}), {});
  CHECK_FALSE(decision.fit);
  CHECK_FALSE(decision.next_measurement);
  REQUIRE(decision.law);
  CHECK_FALSE(decision.law->serial);
  CHECK(decision.law->not_identifiable);
}

TEST_CASE("an optimum beyond four times the largest count carries a warning", "[decide]") {
  ScalingLaw law;
  law.fastest = 64;
  CHECK(extrapolation_remarks(law, 16).empty());
  law.fastest = 65;
  REQUIRE(extrapolation_remarks(law, 16).size() == 1);
  CHECK_THAT(number(extrapolation_remarks(law, 16).front(), 1), WithinRel(65.0 / 16, 1e-12));
}

TEST_CASE("the laws that hold are carried on to larger counts, far ones marked", "[decide]") {
  DecisionRequest request;
  request.forecast_counts = {48, 4096};
  const Decision decision = decide_table(assemble(strong_observations()), request);
  REQUIRE(decision.laws);
  REQUIRE(decision.law_forecast);
  const auto& points = decision.law_forecast->points;
  REQUIRE(points.size() == 5);
  CHECK(points[0].count == 48);
  CHECK(points[4].count == 4096);
  const ForecastPoint& next = points[1];
  CHECK(next.count == 64);
  CHECK_FALSE(next.far);
  CHECK_THAT(next.efficiency, WithinRel(3600.0 / next.time.value.value() / 64.0, 1e-9));
  REQUIRE(next.time.interval);
  CHECK(next.time.interval->low < next.time.value);
  CHECK_FALSE(points[2].far);
  CHECK(points[3].far);
}

TEST_CASE("a count to forecast is 1 or more", "[decide]") {
  DecisionRequest request;
  request.forecast_counts = {0};
  CHECK_THROWS_AS(decide_table(assemble(strong_observations()), request), UserError);
}

TEST_CASE("a row that is left out of the laws is named in a remark", "[decide]") {
  std::vector<TableRow> rows;
  for (const int k : {1, 2, 4, 8, 16, 32})
    rows.push_back(observation(k, (97.0 / k + 3.0) * (k == 8 ? 1.5 : 1.0)));
  const Decision decision = decide_table(assemble(rows), {});
  CHECK(std::ranges::any_of(decision.remarks, [](const Finding& remark) {
    return remark == Finding(FindingId::outlier, 8);
  }));
}

TEST_CASE("beyond a cliff nothing is predicted, and why is said", "[decide]") {
  std::vector<TableRow> rows;
  for (const int k : {1, 2, 4, 8, 16, 32, 64}) {
    rows.push_back(observation(k, k <= 8 ? 64.0 / k : 8.0 * (k / 8)));
  }
  const Decision decision = decide_table(assemble(rows), {});
  REQUIRE(decision.law_forecast);
  CHECK(decision.law_forecast->points.empty());
  CHECK(decision.law_forecast->basis->id == FindingId::no_law_near);
}

TEST_CASE("two rows are carried on with an interval that says how little they show", "[decide]") {
  const Decision decision =
      decide_table(assemble({observation(1, 100.0), observation(2, 60.0)}), {});
  REQUIRE(decision.law_forecast);
  CHECK_FALSE(decision.laws->held_out);
  const Estimate<Seconds>& at_four = decision.law_forecast->points[0].time;
  // Amdahl's law through both says 40, a power of the count 36, a loss in log K 35.
  CHECK(at_four.value.value() > 34.0);
  CHECK(at_four.value.value() < 41.0);
  REQUIRE(at_four.interval);
  CHECK(at_four.interval->low.value() < 35.0);
  CHECK(at_four.interval->high.value() > 40.0);
}

TEST_CASE("a step with known micro-batches is forecast by a m + b alone", "[decide]") {
  // T = 0.2 m + 2 with 192 micro-batches at 8 replicas of 48 ranks.
  std::vector<TableRow> rows;
  for (const int replicas : {8, 16}) {
    TableRow row = observation(48 * replicas, 0.2 * 192 * 8 / replicas + 2.0);
    row.facts.layout.tensor = 8;
    row.facts.layout.pipeline = 6;
    row.facts.microbatches = 192.0 * 8 / replicas;
    rows.push_back(row);
  }
  const Decision decision = decide_table(assemble(rows), {});
  REQUIRE(decision.laws);
  REQUIRE(decision.laws->laws.size() == 1);
  CHECK(decision.laws->laws.front().family.name == "micro-batches");
  REQUIRE(decision.law_forecast);
  CHECK_THAT(decision.law_forecast->points[1].time.value.value(), WithinRel(0.2 * 24 + 2, 1e-9));
}

TEST_CASE("a row of another quality is in no law and is not named", "[decide]") {
  std::vector<TableRow> rows;
  for (const int k : {1, 2, 4, 8, 16}) {
    rows.push_back(observation(k, 95.0 / k + 5.0));
    rows.back().quality = 0.9;
  }
  DecisionRequest request;
  request.rubric.quality_tolerance = 0.01;
  const auto without = decide_table(assemble(rows), request);
  rows.push_back(observation(32, 1.0));
  rows.back().quality = 0.5;
  const auto with = decide_table(assemble(rows), request);
  CHECK(with.named.fastest == 16);
  REQUIRE(with.fit);
  CHECK(with.fit->serial == without.fit->serial);
  CHECK(with.law_forecast->points.front().time.value ==
        without.law_forecast->points.front().time.value);
}

TEST_CASE("weak scaling is fitted by Gustafson's law as well", "[decide]") {
  std::vector<TableRow> rows;
  for (const int k : {1, 2, 4, 8}) {
    TableRow at = observation(k, k * 100.0 / (k - 0.1 * (k - 1.0)));
    at.work = 1000.0 * k;
    rows.push_back(at);
  }
  const Decision decision = decide_table(assemble(rows), {});
  REQUIRE(decision.scaling == Scaling::weak);
  REQUIRE(decision.further.gustafson);
  CHECK_THAT(decision.further.gustafson->serial.value, WithinAbs(0.1, 1e-6));
}

TEST_CASE("rows with micro-batches and one layout are fitted by them", "[decide]") {
  std::vector<TableRow> rows{
      observation(2240, 60.1), observation(2800, 50.2), observation(3360, 44.4)};
  rows[0].facts.microbatches = 240;
  rows[1].facts.microbatches = 192;
  rows[2].facts.microbatches = 160;
  const Decision decision = decide_table(assemble(rows), {});
  REQUIRE(decision.further.micro_batches);
  CHECK_THAT(decision.further.micro_batches->per_micro_batch.value, WithinAbs(0.2, 0.02));
  rows[2].facts.layout.pipeline = 35;
  CHECK_FALSE(decide_table(assemble(rows), {}).further.micro_batches);
}

TEST_CASE("the bounds of work and depth stand beside the rows", "[decide]") {
  DecisionRequest request;
  request.law_inputs.work_depth = WorkDepth{Seconds(800), Seconds(20)};
  const Decision decision = decide_table(breakdown_table(), request);
  REQUIRE(decision.further.bounds.size() == 5);
  CHECK(decision.further.bounds[3].bounds.high.value() == 120.0);
  CHECK_THAT(decision.further.bounds[3].above, WithinRel(206.0 / 120.0 - 1.0, 1e-12));
}

namespace {
std::vector<DecisionRow> rows_with(const std::vector<std::pair<int, double>>& micro_batches) {
  std::vector<DecisionRow> rows;
  for (const auto& [count, number] : micro_batches) {
    DecisionRow row;
    row.count = count;
    row.facts.microbatches = number;
    row.facts.layout.pipeline = 8;
    rows.push_back(row);
  }
  return rows;
}
}  // namespace

TEST_CASE("fewer micro-batches than pipeline stages are a change of regime", "[decide]") {
  const auto remarks =
      micro_batch_remarks(rows_with({{64, 16}, {128, 8}, {256, 4}}), Scaling::weak);
  CHECK(remarks == std::vector{Finding(FindingId::few_microbatches, 256, 4.0, 8)});
  CHECK(micro_batch_remarks(rows_with({{64, 16}, {128, 8}}), Scaling::weak).empty());
}

TEST_CASE("a fixed batch ends where one micro-batch is left", "[decide]") {
  const auto remarks = micro_batch_remarks(rows_with({{64, 32}, {128, 16}}), Scaling::strong);
  CHECK(remarks == std::vector{Finding(FindingId::most_ranks_of_batch, 2048)});
  CHECK(micro_batch_remarks({DecisionRow{}}, Scaling::strong).empty());
}
