// SPDX-License-Identifier: Apache-2.0
// Golden numbers: README of the recordings, computed there independently, from raw clocks.
#include "tests/catch.h"
#include "tests/unit/trace/recordings.h"
#include "trace/analysis/efficiency/measure_efficiency.h"
#include "trace/classify/classify.h"
#include "trace/format/read_job.h"

#include <cmath>

using namespace scaleworth;
using namespace scaleworth::trace;
using Catch::Matchers::WithinAbs;

namespace {

/// Efficiency with clocks as they are.
EfficiencyResult measured(const std::string& path) {
  const RuleTable rules = RuleTable::built_in();
  Job job = read_job({path}, {&rules, 1});
  for (Recording& recording : job.recordings) classify(recording, rules);
  Alignment alignment;
  alignment.map = ClockMap(job.recordings.size());
  const Waits waits = split_waits(job, match_collectives(job), alignment);
  return measure_efficiency(job, find_steps(job, alignment.map), waits, alignment, {});
}

}  // namespace

TEST_CASE("the eight ranks recorded by Kineto have their golden factors", "[golden]") {
  const auto path = shared_recording("dlrm_8xv100");
  if (!path) return;
  const EfficiencyResult result = measured(*path);
  REQUIRE(result.efficiency);
  const attribution::Efficiency& factors = *result.efficiency;
  REQUIRE(factors.runtime == std::chrono::microseconds(19685));
  // Four digits are published.
  CHECK_THAT(factors.parallel, WithinAbs(0.0563, 0.5e-4));
  CHECK_THAT(factors.load_balance, WithinAbs(0.8893, 0.5e-4));
  CHECK_THAT(factors.serialization * factors.transfer, WithinAbs(0.0633, 0.5e-4));
  CHECK_THAT(factors.replay_error, WithinAbs(0.0, 1e-3));
  nanoseconds path_sum{};
  for (const auto& share : factors.critical_path) path_sum += share.time;
  CHECK(path_sum == factors.runtime);
}

TEST_CASE("the pair of processes recorded by Nsight Systems replays as recorded", "[golden]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const EfficiencyResult result = measured(*path);
  REQUIRE(result.efficiency);
  CHECK_THAT(result.efficiency->replay_error, WithinAbs(0.0, 1e-3));
}
