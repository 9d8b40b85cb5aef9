// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/decision.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <numeric>

using namespace scaleworth;
using namespace scaleworth::model;
using scaleworth::testing::add_training;
using scaleworth::testing::LedgerTimes;
using scaleworth::testing::scattered;

namespace {

/// 40 ms alone (36 compute, 4 host) and `step` ms on two ranks.
Run pair_with(double step, const LedgerTimes& first, const LedgerTimes& second) {
  Run run;
  add_training(run, {"strong", 1, 1024, scattered(40), {}, {{36, 0, 4, 0, 0, 0, 0, {}}}});
  add_training(run, {"strong", 2, 1024, scattered(step), {}, {first, second}});
  return run;
}

model::Decision decision_of(const Run& run) {
  return *analyse(run, {}).scaling.front().decision;
}

double mixture_sum(const ScalingCause& cause) {
  return std::accumulate(
      cause.mixture.begin(), cause.mixture.end(), 0.0, [](double sum, const auto& part) {
        return sum + part.second;
      });
}

}  // namespace

TEST_CASE("a part that explains nearly all of the loss is its owner", "[scaling]") {
  // Ideal on two ranks 18 compute + 2 host; actual 18 + 2 + 10 transfer: transfer owns all of it.
  const LedgerTimes rank{18, 0, 2, 0, 10, 0, 0, {}};
  const auto decision = decision_of(pair_with(30, rank, rank));
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::communication);
  CHECK_THAT(decision.diagnosis.cause->explained, WithinAbs(1.0, 1e-9));
  CHECK_THAT(mixture_sum(*decision.diagnosis.cause), WithinAbs(1.0, 1e-12));
  CHECK_FALSE(decision.straggler);
}

TEST_CASE("no owner is named for a mixture and its shares add to one", "[scaling]") {
  // Lost: compute 22 - 18 = 4, host 4 - 2 = 2, transfer 4: 40 %, 20 %, 40 % of 10 ms.
  const LedgerTimes rank{22, 0, 4, 0, 4, 0, 0, {}};
  const auto decision = decision_of(pair_with(30, rank, rank));
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == std::nullopt);
  REQUIRE(decision.diagnosis.cause->mixture.size() == 3);
  CHECK(decision.diagnosis.cause->mixture[0].first == Cause::slowdown);
  CHECK_THAT(decision.diagnosis.cause->mixture[0].second, WithinAbs(0.4, 1e-9));
  CHECK(decision.diagnosis.cause->mixture[2].first == Cause::host);
  CHECK_THAT(mixture_sum(*decision.diagnosis.cause), WithinAbs(1.0, 1e-12));
}

TEST_CASE("a slow rank is charged with the waiting of the others", "[scaling]") {
  // Rank 1 computes twice as long; rank 0 waits 18 ms for it in each step.
  Run run = pair_with(38, {18, 0, 2, 0, 0, 18, 0, {{1, 18.0}}}, {36, 0, 2, 0, 0, 0, 0, {}});
  const auto decision = decision_of(run);
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::idle);
  REQUIRE(decision.straggler);
  CHECK(decision.straggler->rank == 1);
  CHECK_THAT(decision.straggler->cost.value(), WithinRel(0.018, 1e-9));
}

TEST_CASE("a count with a rank slowed on purpose is left out, and the rank is named", "[scaling]") {
  Run run = pair_with(38, {18, 0, 2, 0, 0, 18, 0, {{1, 18.0}}}, {36, 0, 2, 0, 0, 0, 0, {}});
  Point& point = testing::probe(run, probe_name::step_training).points[1];
  point.setting.set(Parameter::straggler_rank, std::int64_t{1});
  point.setting.set(Parameter::straggler_per_mille, std::int64_t{2000});
  const ScalingResult result = analyse(run, {}).scaling.front();
  CHECK(result.slowed == Finding(FindingId::slowed_on_purpose, 1, 2.0));
  CHECK(result.decision->rows.size() == 1);
  REQUIRE(result.decision->straggler);
  CHECK(result.decision->straggler->rank == 1);
}

TEST_CASE("waiting that is shared between the ranks has no culprit", "[scaling]") {
  const auto decision = decision_of(
      pair_with(26, {18, 0, 2, 0, 0, 6, 0, {{1, 6.0}}}, {18, 0, 2, 0, 0, 6, 0, {{0, 6.0}}}));
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::idle);
  CHECK_FALSE(decision.straggler);
}

TEST_CASE("no cause is named for a loss within the noise", "[scaling]") {
  Run run = pair_with(20.02, {18, 0, 2, 0, 0, 0, 0, {}}, {18, 0, 2, 0, 0.02, 0, 0, {}});
  const auto decision = decision_of(run);
  CHECK_FALSE(decision.diagnosis.cause);
  REQUIRE(decision.diagnosis.no_cause);
  CHECK(decision.diagnosis.no_cause->id == FindingId::no_loss_beyond_noise);
  CHECK(decision.attributed());
}

TEST_CASE("no cause is named and nothing recommended for one count or a missing ledger",
          "[scaling]") {
  Run single;
  add_training(single, {"strong", 1, 1024, scattered(40), {}, {}});
  CHECK_FALSE(decision_of(single).attributed());
  Run bare;
  add_training(bare, {"strong", 1, 1024, scattered(40), {}, {}});
  add_training(bare, {"strong", 2, 1024, scattered(30), {}, {}});
  CHECK(decision_of(bare).diagnosis.no_cause == Finding(FindingId::no_parts));
  CHECK_FALSE(decision_of(bare).attributed());
}

TEST_CASE("weak scaling loses against the time of one rank", "[scaling]") {
  Run run;
  add_training(run, {"weak", 1, 512, scattered(20), {}, {{20, 0, 0, 0, 0, 0, 0, {}}}});
  const LedgerTimes rank{20, 0, 0, 0, 5, 0, 0, {}};
  add_training(run, {"weak", 2, 1024, scattered(25), {}, {rank, rank}});
  const auto decision = decision_of(run);
  REQUIRE(decision.diagnosis.cause);
  CHECK(decision.diagnosis.cause->owner == Cause::communication);
}
