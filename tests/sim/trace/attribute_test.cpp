// SPDX-License-Identifier: Apache-2.0
#include "trace/attribute.h"

#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "tests/sim/trace/pipeline_generator.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace scaleworth::sim {
namespace {

constexpr int seeds = 60;

/// Pipelines of all kinds, by seed.
PipelineTruth truth_of(std::uint64_t seed) {
  PipelineTruth truth;
  truth.seed = seed;
  truth.stages = 2 + static_cast<int>(seed % 4);
  truth.replicas = seed % 3 == 0 ? 1 : 2;
  truth.batches = 4 + static_cast<int>(seed % 5);
  truth.kernel_noise = seed % 7 == 0 ? 0.03 : 0.01;
  truth.schedule = seed % 2 == 0 ? PipelineTruth::Schedule::all_forward_first
                                 : PipelineTruth::Schedule::one_forward_one_backward;
  truth.recorder =
      seed / 2 % 2 == 0 ? PipelineTruth::Recorder::profiler : PipelineTruth::Recorder::framework;
  return truth;
}

int held(const std::function<bool(std::uint64_t)>& holds) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (holds(seed)) {
      ++held;
    } else {
      UNSCOPED_INFO("not for seed " << seed);
    }
  }
  return held;
}

StragglerReport stragglers_of(const PipelineTruth& truth) {
  StragglerReport report = trace::attribute(generate_pipeline(truth)).result.stragglers;
  if (!report.stragglers.empty()) UNSCOPED_INFO(report.stragglers.front().unit);
  return report;
}
}  // namespace

TEST_CASE("the bubbles of a balanced pipeline are charged to nobody, and named") {
  CHECK(held([](std::uint64_t seed) {
          const StragglerReport report = stragglers_of(truth_of(seed));
          return report.stragglers.empty() && report.finding == StragglerFinding::no_straggler &&
                 report.abstention->arguments.at(0) ==
                     Finding(FindingId::turns_cost, report.taking_turns);
        }) > 0.98 * seeds);
}

TEST_CASE("an uneven stage of a pipeline is named") {
  CHECK(held([](std::uint64_t seed) {
          PipelineTruth truth = truth_of(seed);
          truth.stages = std::max(truth.stages, 3);
          truth.replicas = 2;
          truth.long_stage = static_cast<int>(seed) % truth.stages;
          const StragglerReport report = stragglers_of(truth);
          if (report.stragglers.empty() || !report.stragglers.front().significant) return false;
          const bool right =
              std::all_of(report.stragglers.begin(), report.stragglers.end(), [&](const auto& one) {
                return one.rank.index / truth.replicas == *truth.long_stage;
              });
          const bool known = truth.recorder == PipelineTruth::Recorder::framework;
          return right && (!known || report.stragglers.front().cause == LateCause::pipeline_stage);
        }) >= 0.95 * seeds);
}

TEST_CASE("a slow GPU of a pipeline is named") {
  CHECK(held([](std::uint64_t seed) {
          PipelineTruth truth = truth_of(seed);
          truth.stages = std::max(truth.stages, 3);
          truth.slow_rank = static_cast<int>(seed) % (truth.stages * truth.replicas);
          const StragglerReport report = stragglers_of(truth);
          return report.stragglers.size() == 1 && report.stragglers.front().significant &&
                 report.stragglers.front().rank.index == *truth.slow_rank;
        }) >= 0.95 * seeds);
}

TEST_CASE("the step of an evenly cut pipeline is predicted within 5 %") {
  CHECK(held([](std::uint64_t seed) {
          PipelineTruth truth = truth_of(seed);
          truth.stages = 4;
          truth.replicas = 2;
          truth.recorder = PipelineTruth::Recorder::framework;
          truth.long_stage = static_cast<int>(seed) % 4;
          const auto uneven = trace::attribute(generate_pipeline(truth)).result.efficiency;
          PipelineTruth even = truth;
          even.long_stage.reset();
          even.work = (3.0 + truth.longer) / 4.0;  // the same work on four stages
          const auto balanced = trace::attribute(generate_pipeline(even)).result.efficiency;
          if (!uneven || !balanced) return false;
          const auto found =
              std::find_if(uneven->what_if.begin(), uneven->what_if.end(), [](const auto& one) {
                return one.change == ReplayChange::even_stages;
              });
          if (found == uneven->what_if.end()) return false;
          const double ratio = static_cast<double>(found->step_time.count()) /
                               static_cast<double>(balanced->step_time.count());
          UNSCOPED_INFO(ratio);
          return ratio > 0.95 && ratio < 1.05;
        }) >= 0.95 * seeds);
}

namespace {
// Predictions against what happens: the same generated job without the late rank.

std::optional<Efficiency> efficiency_of(const JobTruth& truth) {
  const GeneratedJob generated = generate_job(truth);
  return trace::attribute(generated.job).result.efficiency;
}

/// Error of the predicted step without the straggler against the step of the job without it.
std::optional<double> prediction_error(LateCause cause, std::uint64_t seed) {
  JobTruth truth;
  truth.cause = cause;
  truth.seed = seed;
  truth.straggler = static_cast<int>(seed % 8);
  truth.late_ns = 500e3;
  truth.clock_offset_ns = 100e3;
  const auto late = efficiency_of(truth);
  truth.cause = LateCause::undecided;
  truth.late_ns = 0.0;
  const auto prompt = efficiency_of(truth);
  if (!late || !prompt) return std::nullopt;
  const std::vector<std::string> units{"rank " + std::to_string(seed % 8)};
  const auto found = std::find_if(late->what_if.begin(), late->what_if.end(), [&](const auto& one) {
    return one.units == units;
  });
  if (found == late->what_if.end()) return std::nullopt;
  const auto truth_ns = static_cast<double>(prompt->step_time.count());
  return static_cast<double>(found->step_time.count()) / truth_ns - 1.0;
}

void require_predictions(LateCause cause, double tolerance) {
  int good = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto error = prediction_error(cause, seed);
    if (error && std::abs(*error) <= tolerance) {
      ++good;
    } else {
      UNSCOPED_INFO("seed " << seed << ": error " << (error ? *error : NAN));
    }
  }
  REQUIRE(good >= 19);
}
}  // namespace

TEST_CASE("the step without a rank of slow kernels is predicted within 5 %") {
  require_predictions(LateCause::slower_kernels, 0.05);
}

TEST_CASE("the step without a rank of more work is predicted within 5 %") {
  require_predictions(LateCause::more_work, 0.05);
}

TEST_CASE("the step without a late host is predicted within 5 %") {
  require_predictions(LateCause::host, 0.05);
}

}  // namespace scaleworth::sim
