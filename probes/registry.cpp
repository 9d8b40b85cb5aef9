// SPDX-License-Identifier: Apache-2.0
#include "probes/registry.h"

#include "probes/collectives.h"
#include "probes/gpu/nccl.h"
#include "probes/training/step_probes.h"
#include "src/core/probe_names.h"

#include <array>

namespace scaleworth::probes {
std::span<const RankProbe> rank_probes() {
  static constexpr std::array probes{
      RankProbe{probe_name::comm_collectives,
                "How long do six collectives take at each message size and rank count?",
                &estimate_collectives,
                &measure_collectives},
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
      RankProbe{probe_name::step_variants,
                "What do CUDA graphs and tracing change of a training step?",
                &estimate_step_variants,
                &measure_step_variants},
  };
  return probes;
}
}  // namespace scaleworth::probes
