// SPDX-License-Identifier: Apache-2.0
/// The table of the probes of ranks on GPUs, in the order of measurement.
#include "probes/collectives/nccl_sweep.h"
#include "probes/registry.h"
#include "probes/training/device_step_probe.h"
#include "src/core/run/fields.h"

#include <array>

namespace scaleworth::probes {

std::span<const RankProbe> device_rank_probes() {
  static const std::array probes{
      nccl_probe(),
      RankProbe{fields::step_training,
                "How does a training step scale over GPUs, and where does its time go?",
                &estimate_device_training,
                &measure_device_training},
      RankProbe{fields::step_variants,
                "What do CUDA graphs and tracing change of a training step?",
                &estimate_step_variants,
                &measure_step_variants}};
  return probes;
}

}  // namespace scaleworth::probes
