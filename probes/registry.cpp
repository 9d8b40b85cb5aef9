// SPDX-License-Identifier: Apache-2.0
#include "probes/registry.h"

#include "probes/collectives.h"
#include "probes/gpu/nccl.h"
#include "probes/training/step_probes.h"
#include "src/core/error.h"
#include "src/core/run.h"

#include <algorithm>
#include <array>

namespace scaleworth::probes {
std::span<const RankProbe> rank_probes() {
  static constexpr std::array probes{
      RankProbe{probe_name::comm_collectives,
                "How long do six collectives take at each message size and rank count?",
                &estimate_collectives,
                &measure_collectives,
                &look_again},
      RankProbe{probe_name::step_training,
                "How does a training step scale, and where does its time go?",
                &estimate_training,
                &measure_training},
  };
  return probes;
}

std::span<const RankProbe> device_rank_probes() {
  static constexpr std::array probes{
      RankProbe{probe_name::comm_nccl,
                "How long do NCCL's collectives take on each path, by which algorithm, and does it "
                "choose well?",
                &estimate_nccl,
                &measure_nccl},
      RankProbe{probe_name::step_training,
                "How does a training step scale over GPUs, and where does its time go?",
                &estimate_device_training,
                &measure_device_training},
  };
  return probes;
}

const char* suite_name(Suite suite) {
  return suite == Suite::quick ? "quick" : "standard";
}

Suite parse_suite(const std::string& name) {
  if (name == "quick") return Suite::quick;
  if (name == "standard") return Suite::standard;
  throw UserError("unknown suite '" + name + "': use quick or standard");
}

StoppingTarget target_of(const Pace& pace) {
  // 1 %: less than what two runs of one machine differ by; half of it takes four times as long.
  return {.relative_half_width = 0.01,
          .minimum_samples = pace.minimum_samples,
          .maximum_samples = 1000,
          .time_budget = pace.budget};
}

Seconds fitting_sample(const StoppingTarget& target) {
  const std::size_t least = std::max<std::size_t>(1, target.minimum_samples);
  // Room for samples longer than expected and for what lies between them; presumed.
  return 0.7 * target.time_budget / static_cast<double>(least);
}

Seconds time_per_setting(const Pace& pace) {
  // As sampling ends on average: some settings converge early, the last sample passes the budget.
  // Only the plan's estimate stands on it.
  return 0.85 * pace.budget + 1.5 * fitting_sample(target_of(pace));
}
}  // namespace scaleworth::probes
