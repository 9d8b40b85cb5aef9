// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "trace/analysis/stragglers.h"
#include "trace/attribute.h"

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using testing::Fault;
using testing::JobPlan;

JobPlan plan_of(int replicas, int stages, std::uint64_t seed) {
  JobPlan plan;
  plan.replicas = replicas;
  plan.stages = stages;
  plan.micro_batches = stages == 1 ? 2 : 2 * stages;
  plan.layers = 2;
  plan.steps = 10;
  plan.noise = 0.01 * static_cast<double>(seed);
  plan.transfer_ns = 6e6;
  plan.seed = seed;
  return plan;
}

JobPlan slow_link(JobPlan plan, int place, double strength) {
  plan.fault = Fault::slow_link;
  plan.place = place;
  plan.strength = strength;
  return plan;
}

std::vector<SlowFabric> fabric_of(const JobPlan& plan) {
  return attribute(testing::generate_job(plan).job).result.slow_fabric;
}

TEST_CASE("A rank whose transfers are slow with every partner is named at several topologies") {
  for (const auto& [replicas, stages] : {std::pair(2, 4), std::pair(4, 2), std::pair(3, 3)})
    for (const double strength : {0.5, 1.4})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const int place = static_cast<int>(3 * seed + 1) % (replicas * stages);
        const auto found = fabric_of(slow_link(plan_of(replicas, stages, seed), place, strength));
        INFO(fmt::format("{} x {}, rank {}, +{}", replicas, stages, place, strength));
        REQUIRE(found.size() == 1);
        CHECK(found.front().ranks == std::vector{Rank{place}});
        CHECK_FALSE(found.front().varies);
        CHECK(found.front().per_step.count() > 0);
      }
}

TEST_CASE("Fabric that is as fast everywhere is not named, however much the transfers scatter",
          "[statistics]") {
  for (const auto& [replicas, stages] : {std::pair(8, 1), std::pair(2, 4), std::pair(3, 3)})
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      JobPlan plan = plan_of(replicas, stages, seed);
      plan.fault = seed % 3 == 0 ? Fault::slow_gpu : Fault::none;
      plan.strength = 0.5;
      CHECK(fabric_of(plan).empty());
    }
}

TEST_CASE("Transfers that are slow in some steps vary, and no rank of the group is named") {
  for (const auto& [replicas, stages] : {std::pair(8, 1), std::pair(2, 4)})
    for (const int every : {2, 3}) {
      JobPlan plan = slow_link(plan_of(replicas, stages, 1), 1, 1.4);
      plan.steps = 12;
      plan.every = every;
      const auto found = fabric_of(plan);
      REQUIRE_FALSE(found.empty());
      for (const SlowFabric& one : found) {
        CHECK(one.varies);
        CHECK(one.ranks.size() > 1);
        CHECK(std::ranges::count(one.ranks, Rank{1}) == 1);
      }
    }
}

TEST_CASE("Larger transfers are not slow ones, and of unknown size none is") {
  JobPlan plan = plan_of(2, 4, 1);
  plan.large_stage = 2;
  CHECK(fabric_of(plan).empty());
  plan = slow_link(plan_of(2, 4, 1), 3, 1.4);
  plan.sized = false;
  CHECK(fabric_of(plan).empty());
}

TEST_CASE("Transfers longer by less than the clock error are not slow") {
  const Job job = testing::generate_job(slow_link(plan_of(2, 4, 1), 3, 0.5)).job;
  Attributed all = attribute(job);
  CHECK(find_slow_fabric(job, all.steps, all.waits, all.alignment).size() == 1);
  all.alignment.report.error = std::chrono::milliseconds(4);  // half of 6 ms and less
  CHECK(find_slow_fabric(job, all.steps, all.waits, all.alignment).empty());
}

TEST_CASE("What slow fabric costs is the transfer beyond that of fast ranks") {
  // Without noise: in each step two collectives of 6 ms, in the slow stage 6 ms longer, on both of
  // its ranks. Messages of 0.6 ms take 0.6 ms longer, 2 x 8 of them; some are hidden.
  JobPlan plan = slow_link(plan_of(2, 2, 1), 2, 1.0);
  plan.noise = 0.0;
  plan.outliers = 0.0;
  plan.micro_batches = 1;
  const auto found = fabric_of(plan);
  REQUIRE(found.size() == 1);
  // Messages: one up and one down, on ranks 0 and 2.
  const double whole = 2 * 2 * 6e6 + 2 * 2 * 0.6e6;
  CHECK(std::abs(static_cast<double>(found.front().per_step.count()) - whole) < 0.1 * whole);
}

JobPlan late_host(int replicas, int stages, bool timeline, int seed) {
  JobPlan plan;
  plan.replicas = replicas;
  plan.stages = stages;
  plan.timeline = timeline;
  plan.micro_batches = stages == 1 ? 2 : 2 * stages;
  plan.steps = 6;
  plan.noise = 0.01 * seed;
  plan.seed = static_cast<std::uint64_t>(seed);
  plan.fault = Fault::late_host;
  plan.place = (5 * seed + 1) % plan.ranks();
  return plan;
}

/// Of all jobs with a late host; returns in how many the fault costs something.
int check_causes(bool timeline) {
  int costly = 0;
  for (const auto& [replicas, stages] : {std::pair(8, 1), std::pair(2, 4), std::pair(4, 2)})
    for (const double strength : {0.1, 0.3, 1.4})
      for (int seed = 1; seed <= 2; ++seed) {
        JobPlan plan = late_host(replicas, stages, timeline, seed);
        plan.strength = strength;
        const auto job = testing::generate_job(plan);
        const double saving = 1.0 - testing::repaired_step_ns(plan) / job.step_ns;
        const auto report = attribute(job.job).result.stragglers;
        INFO(fmt::format("{} x {}, +{}, seed {}: costs {:.3f} of the step",
                         replicas,
                         stages,
                         strength,
                         seed,
                         saving));
        for (const auto& one : report.stragglers) UNSCOPED_INFO(one.unit);
        if (saving < 0.005) {
          // The host runs ahead while the pipeline waits: the fault is hidden.
          CHECK(report.stragglers.empty());
        } else if (saving > 0.03) {
          ++costly;
          REQUIRE_FALSE(report.stragglers.empty());
          CHECK(report.stragglers.front().rank == Rank{plan.place});
          CHECK(report.stragglers.front().cause == LateCause::host);
          CHECK(report.stragglers.front().shares.front().host ==
                (timeline ? HostCause::garbage_collection : HostCause::other));
          if (!timeline) continue;
          // Timers of a framework have no calls of the host: the work itself is on time.
          const auto& saved = report.stragglers.front().saved;
          REQUIRE(saved);
          CHECK(std::abs(static_cast<double>(saved->count()) / job.step_ns - saving) < 0.03);
        }
      }
  return costly;
}

TEST_CASE("A host that launches late is named wherever a pipeline's bubble does not hide it") {
  CHECK(check_causes(false) >= 10);
}

TEST_CASE("A host that collects garbage is named in a framework's timers") {
  CHECK(check_causes(true) >= 10);
}

TEST_CASE("A rank that stands idle for an unrecorded reason is named, without a cause") {
  JobPlan plan = late_host(2, 4, true, 1);
  plan.strength = 0.3;
  plan.host_seen = false;
  const auto report = attribute(testing::generate_job(plan).job).result.stragglers;
  REQUIRE_FALSE(report.stragglers.empty());
  CHECK(report.stragglers.front().rank == Rank{plan.place});
  CHECK(report.stragglers.front().cause == LateCause::undecided);
  REQUIRE_FALSE(report.stragglers.front().shares.empty());
  const CauseShare& share = report.stragglers.front().shares.front();
  CHECK(share.cause == LateCause::undecided);
  CHECK(share.detail == Finding(FindingId::gaps_on_gpu));
}
}  // namespace
}  // namespace scaleworth::trace
