// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/model/decision/scaling_row.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <numeric>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::testing::add_training;
using scaleworth::testing::scattered;

namespace {

/// 40 ms alone; 25 ms on two ranks of which 20 ms compute, 3 ms transfer, 2 ms wait (mean).
Run strong_pair() {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(40), {2.0, 1.5}, {{36, 3, 1, 0, 0, 0, 0, {}}}});
  add_training(run,
               {"strong",
                2,
                1024,
                scattered(25),
                {2.0, 1.5},
                {{18, 3, 1, 0, 2, 1, 0, {{1, 1.0}}}, {18, 3, 1, 0, 3, 0, 0, {}}}});
  return run;
}

double share_sum(const MeanLedger& ledger) {
  return std::accumulate(probe_parts.begin(), probe_parts.end(), 0.0, [&](double sum, Part part) {
    return sum + ledger.share(part);
  });
}

std::vector<DecisionRow> rows_of(const Run& run) {
  return analyse(run, {}).scaling.front().rows;
}

}  // namespace

TEST_CASE("speed-up and efficiency compare with the smallest count", "[scaling]") {
  const auto rows = rows_of(strong_pair());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].speedup.value == 1.0);
  CHECK_FALSE(rows[0].karp_flatt);
  // 40/25 = 1.6, 1.6/2 = .8, (1/1.6 - 1/2)/(1 - 1/2) = .25; 1024 tokens / .025 s = 40960 per s.
  CHECK_THAT(rows[1].speedup.value, WithinRel(1.6, 1e-12));
  CHECK_THAT(rows[1].efficiency.value, WithinRel(0.8, 1e-12));
  CHECK_THAT(rows[1].karp_flatt->value, WithinRel(0.25, 1e-12));
  CHECK_THAT(*rows[1].throughput, WithinRel(40960.0, 1e-12));
  REQUIRE(rows[1].efficiency.interval);
  CHECK(rows[1].efficiency.interval->low < 0.8);
  CHECK(rows[1].efficiency.interval->high > 0.8);
}

TEST_CASE("Karp-Flatt follows the published rows", "[scaling]") {
  // 800, 430, 260, 206, 235 s: .0750 .1000 .1514 .2467. 3600, 1880, 1010, ...: .0444 .0407.
  CHECK_THAT(karp_flatt(800.0 / 430.0, 2), WithinAbs(0.0750, 5e-5));
  CHECK_THAT(karp_flatt(800.0 / 260.0, 4), WithinAbs(0.1000, 5e-5));
  CHECK_THAT(karp_flatt(800.0 / 206.0, 8), WithinAbs(0.1514, 5e-5));
  CHECK_THAT(karp_flatt(800.0 / 235.0, 16), WithinAbs(0.2467, 5e-5));
  CHECK_THAT(karp_flatt(3600.0 / 1880.0, 2), WithinAbs(0.0444, 5e-5));
  CHECK_THAT(karp_flatt(3600.0 / 1010.0, 4), WithinAbs(0.0407, 5e-5));
}

TEST_CASE("weak efficiency is T1 over TK", "[scaling]") {
  Run run;
  add_training(run, {"weak", 1, 512, scattered(20), {}, {}});
  add_training(run, {"weak", 2, 1024, scattered(25), {}, {}});
  const auto rows = rows_of(run);
  CHECK_THAT(rows[1].efficiency.value, WithinRel(20.0 / 25.0, 1e-12));
  CHECK_THAT(rows[1].speedup.value, WithinRel(2 * 20.0 / 25.0, 1e-12));
}

TEST_CASE("a superlinear row is kept above an efficiency of one", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 512, scattered(20), {}, {}});
  add_training(run, {"strong", 2, 512, scattered(8), {}, {}});
  const auto rows = rows_of(run);
  CHECK_THAT(rows[1].efficiency.value, WithinRel(1.25, 1e-12));
}

TEST_CASE("shares add to the whole step for the mean rank and for each rank", "[scaling]") {
  const auto rows = rows_of(strong_pair());
  for (const DecisionRow& row : rows) {
    REQUIRE(row.trained.ledger);
    CHECK_THAT(share_sum(row.trained.ledger->mean), WithinAbs(1.0, 1e-12));
    for (const MeanLedger& rank : row.trained.ledger->ranks) {
      CHECK_THAT(share_sum(rank), WithinAbs(1.0, 1e-12));
    }
  }
  // Mean of 2 and 3 ms of transfer over 25 ms: 10 %.
  const JobMeans& ledger = *rows[1].trained.ledger;
  CHECK_THAT(ledger.mean.share(Part::exposed_transfer), WithinAbs(0.1, 1e-12));
  REQUIRE(ledger.ranks.size() == 2);
  CHECK_THAT(ledger.ranks[0].share(Part::exposed_wait), WithinAbs(1.0 / 25.0, 1e-12));
}

TEST_CASE("quality holds for equal losses and fails for losses that differ", "[scaling]") {
  CHECK(quality_of(measured_modes(strong_pair()).front()).held);
  Run run = strong_pair();
  // 1.5 against 1.52: 1.3 % apart.
  testing::probe(run, probe_name::step_training).points[1].samples[Metric::loss] = {2.0, 1.52};
  const Quality differing = quality_of(measured_modes(run).front());
  CHECK_FALSE(differing.held);
  REQUIRE(differing.note);
  CHECK(differing.note->id == FindingId::losses_differ);
  CHECK_THAT(std::get<double>(differing.note->arguments.at(0).value), WithinRel(0.02 / 1.52, 1e-9));
}

TEST_CASE("weak losses are said to be not comparable", "[scaling]") {
  Run run;
  add_training(run, {"weak", 1, 512, scattered(20), {2.0}, {}});
  add_training(run, {"weak", 2, 1024, scattered(25), {2.0}, {}});
  const Quality quality = quality_of(measured_modes(run).front());
  CHECK_FALSE(quality.held);
  CHECK(quality.note == Finding(FindingId::losses_of_batches));
}

TEST_CASE("a loss that is not a number leaves the quality unknown", "[scaling]") {
  Run run = strong_pair();
  testing::probe(run, probe_name::step_training).points[1].samples[Metric::loss] = {2.0, NAN};
  CHECK(quality_of(measured_modes(run).front()).note == Finding(FindingId::losses_unknown));
}

TEST_CASE("rows without a ledger or with few steps have no shares and no intervals", "[scaling]") {
  Run run;
  add_training(run, {"strong", 1, 512, {20.0, 21.0}, {}, {}});
  add_training(run, {"strong", 2, 512, {11.0}, {}, {}});
  const auto rows = rows_of(run);
  CHECK_FALSE(rows[1].trained.ledger);
  CHECK_FALSE(rows[1].efficiency.interval);
}

TEST_CASE("strong scaling comes before weak and settings without a step are left out",
          "[scaling]") {
  Run run;
  add_training(run, {"weak", 1, 512, scattered(20), {}, {}});
  add_training(run, {"strong", 2, 512, scattered(11), {}, {}});
  add_training(run, {"strong", 4, 512, {}, {}, {}});
  add_training(run, {"strong", 1, 512, scattered(20), {}, {}});
  const auto modes = measured_modes(run);
  REQUIRE(modes.size() == 2);
  CHECK(modes[0].mode == BatchScaling::strong);
  REQUIRE(modes[0].counts.size() == 2);
  CHECK(modes[0].counts[0].ranks == 1);
}

TEST_CASE("malformed training points are refused by name", "[scaling]") {
  Run twice;
  add_training(twice, {"strong", 1, 512, {20.0}, {}, {}});
  add_training(twice, {"strong", 1, 512, {20.0}, {}, {}});
  CHECK_THROWS_AS(measured_modes(twice), UserError);
  Run negative;
  add_training(negative, {"strong", 1, 512, {-20.0}, {}, {}});
  CHECK_THROWS_AS(measured_modes(negative), UserError);
  Run without = strong_pair();
  Point wait = testing::probe(without, probe_name::step_ledger).points[0];
  wait.setting.set(Parameter::rank, std::int64_t{7});
  wait.setting.set(Parameter::waited_for, std::int64_t{0});
  wait.samples = {{Metric::wait_ns, {1.0}}};
  testing::probe(without, probe_name::step_ledger).points.push_back(wait);
  CHECK_THROWS_AS(measured_modes(without), UserError);
}
