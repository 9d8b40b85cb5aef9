// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "trace/attribute.h"

#include <algorithm>
#include <cmath>

using namespace scaleworth;
using testing::Fault;
using testing::JobPlan;

namespace {

/// Framework timers of `stages` x `replicas` ranks.
JobPlan plan_of(int stages, int replicas, Fault fault, double strength, int place) {
  JobPlan plan;
  plan.stages = stages;
  plan.replicas = replicas;
  plan.micro_batches = 2 * stages;
  plan.steps = 6;
  plan.timeline = stages > 1;
  plan.fault = fault;
  plan.strength = strength;
  plan.place = place;
  return plan;
}

/// Savings in % of the step: predicted of all stragglers together, and in truth.
struct Result {
  Attribution result;
  double step_ns = 0.0;
  double predicted = 0.0;
  double truth = 0.0;
};

Result outcome_of(const JobPlan& plan,
                   testing::Repair repair = testing::Repair::removed,
                   int ranks_per_host = 0) {
  testing::GeneratedJob generated = testing::generate_job(plan);
  for (std::size_t rank = 0; rank < generated.job.recordings.size() && ranks_per_host > 0; ++rank)
    generated.job.recordings[rank].origin.host =
        "node-" + std::to_string(rank / static_cast<std::size_t>(ranks_per_host));
  Result outcome{trace::attribute(generated.job).result, generated.step_ns};
  for (const auto& one : outcome.result.stragglers.stragglers) UNSCOPED_INFO(one.unit);
  outcome.truth = 100.0 * (1.0 - testing::repaired_step_ns(plan, repair) / generated.step_ns);
  if (const auto saved = outcome.result.stragglers.saved)
    outcome.predicted = 100.0 * static_cast<double>(saved->count()) / generated.step_ns;
  return outcome;
}

void require_named(const Result& outcome,
                   LateUnit level,
                   const std::string& unit,
                   double tolerance = 3.0) {
  const auto& stragglers = outcome.result.stragglers.stragglers;
  REQUIRE(stragglers.size() == 1);
  CHECK(stragglers[0].level == level);
  CHECK(stragglers[0].unit == unit);
  CHECK(stragglers[0].significant);
  CHECK_THAT(outcome.predicted, Catch::Matchers::WithinAbs(outcome.truth, tolerance));
}

const Efficiency::WhatIf& what_if(const Result& outcome,
                                  ReplayChange change,
                                  const std::vector<std::string>& units = {}) {
  const auto& all = outcome.result.efficiency.value().what_if;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) {
    return one.change == change && one.units == units;
  });
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("A slow GPU of a pipeline is named, with what the step saves without it") {
  const bool timeline = GENERATE(true, false);
  JobPlan plan = plan_of(4, 4, Fault::slow_gpu, 1.4, 9);
  plan.timeline = timeline;
  const Result outcome = outcome_of(plan);
  require_named(outcome, LateUnit::rank, "rank 9");
  // Headline, cost and what-if are of one replay.
  const auto& straggler = outcome.result.stragglers.stragglers[0];
  REQUIRE(straggler.saved);
  CHECK(*straggler.saved == *outcome.result.stragglers.saved);
  CHECK(*straggler.saved == what_if(outcome, ReplayChange::on_time, {"rank 9"}).saved);
  double gpu_seconds = 0.0;
  for (const auto& step : outcome.result.ledger)
    if (!step.excluded) gpu_seconds += static_cast<double>((step.end - step.start).count()) / 1e9;
  const double share = static_cast<double>(straggler.saved->count()) /
                       static_cast<double>(outcome.result.efficiency->step_time.count());
  CHECK_THAT(straggler.gpu_seconds / gpu_seconds, Catch::Matchers::WithinAbs(share, 0.005));
  CHECK(straggler.steps >= 4);
}

TEST_CASE("A GPU that is slow now and then is named, with what the steps save without it") {
  const int every = GENERATE(2, 3, 4);
  JobPlan plan = plan_of(1, 8, Fault::slow_gpu, 0.6, 3);
  plan.steps = 22;
  plan.every = every;
  plan.seed = static_cast<std::uint64_t>(every);
  const Result outcome = outcome_of(plan);
  require_named(outcome, LateUnit::rank, "rank 3", 5.0);
  const Straggler& straggler = outcome.result.stragglers.stragglers[0];
  CHECK(outcome.result.stragglers.recurrence == Recurrence::one_rank);
  // Of a late step, for the steps that count may hold fewer of them.
  const int late = (plan.steps + every - 1) / every;
  const int counted = outcome.result.step_choice.steps - outcome.result.step_choice.excluded;
  CHECK(std::abs(straggler.steps - counted / every) <= 1);
  CHECK_THAT(outcome.predicted * counted / straggler.steps,
             Catch::Matchers::WithinAbs(outcome.truth * plan.steps / late, 2.5));
  // How much longer in those steps, not on average over all.
  CHECK_THAT(straggler.times_as_long.value(), Catch::Matchers::WithinAbs(1.6, 0.05));
}

TEST_CASE("A slow pipeline stage is named as a stage") {
  const Result outcome =
      outcome_of(plan_of(4, 2, Fault::slow_stage, 0.5, 2), testing::Repair::evened);
  require_named(outcome, LateUnit::stage, "pipeline stage 2");
  CHECK(outcome.result.stragglers.stragglers[0].members.size() == 2);
  CHECK(what_if(outcome, ReplayChange::even_stages).saved == *outcome.result.stragglers.saved);
}

TEST_CASE("All GPUs of a replica that are slow alike are one replica") {
  JobPlan plan = plan_of(4, 4, Fault::slow_gpu, 0.5, 1);
  plan.more_places = {5, 9, 13};
  require_named(outcome_of(plan), LateUnit::replica, "replica 1");
}

TEST_CASE("All GPUs of a host that are slow alike are one host") {
  JobPlan plan = plan_of(1, 8, Fault::slow_gpu, 0.4, 4);
  plan.more_places = {5};
  require_named(outcome_of(plan, testing::Repair::removed, 2), LateUnit::host, "host node-2");
}

TEST_CASE("Lengths that change from micro-batch to micro-batch are no rank's fault") {
  const bool pipeline = GENERATE(true, false);
  const Result outcome =
      outcome_of(plan_of(pipeline ? 4 : 1, pipeline ? 4 : 8, Fault::rotating_lengths, 0.6, 0));
  // The truth's lengths are the mean that they are drawn with, not that of those drawn.
  require_named(outcome, LateUnit::rotating, "the lengths of the micro-batches", 5.0);
  CHECK(outcome.result.stragglers.recurrence == Recurrence::rotating);
}

TEST_CASE("Two equally slow GPUs save together what neither saves alone") {
  JobPlan plan = plan_of(1, 8, Fault::slow_gpu, 0.5, 2);
  plan.more_places = {6};
  const Result outcome = outcome_of(plan);
  const auto& stragglers = outcome.result.stragglers.stragglers;
  REQUIRE(stragglers.size() == 2);
  CHECK_THAT(outcome.predicted, Catch::Matchers::WithinAbs(outcome.truth, 3.0));
  for (const auto& one : stragglers)
    CHECK(5 * one.saved.value() < *outcome.result.stragglers.saved);
  CHECK(stragglers[0].rank.index + stragglers[1].rank.index == 2 + 6);
  CHECK(what_if(outcome, ReplayChange::on_time, {stragglers[0].unit, stragglers[1].unit}).saved ==
        *outcome.result.stragglers.saved);
}

TEST_CASE("In a healthy job nobody is named") {
  const int stages = GENERATE(1, 4);
  JobPlan plan = plan_of(stages, 4, Fault::none, 0.0, 0);
  plan.timeline = GENERATE(true, false) && stages > 1;
  plan.noise = 0.03;
  const Result outcome = outcome_of(plan);
  CHECK(outcome.result.stragglers.stragglers.empty());
}
