// SPDX-License-Identifier: Apache-2.0
#include "probes/registry.h"

#include "probes/collectives.h"
#include "probes/gpu/nccl.h"
#include "probes/roofline.h"
#include "probes/training/step_probes.h"
#include "src/core/files/run_names.h"

#include <array>

namespace scaleworth::probes {
std::span<const NodeProbe> node_probes() {
  static constexpr std::array probes{
      NodeProbe{fields::roofline_compute,
                "How many FLOP/s can the cores retire, per instruction set and precision?",
                &estimate_compute,
                &measure_compute},
      NodeProbe{fields::roofline_memory,
                "How fast do data stream from each level of cache and from memory?",
                &estimate_memory,
                &measure_memory},
      NodeProbe{fields::roofline_latency,
                "How long does one dependent load take at each level?",
                &estimate_latency,
                &measure_latency},
      NodeProbe{fields::roofline_intensity,
                "From how many FLOPs per byte on is compute the limit, and how soft is the ridge?",
                &estimate_intensity,
                &measure_intensity},
      NodeProbe{fields::roofline_gemm,
                "How close to the roof does the library multiply matrices of these shapes?",
                &estimate_gemm,
                &measure_gemm},
  };
  return probes;
}

std::span<const RankProbe> rank_probes() {
  static constexpr std::array probes{
      RankProbe{fields::comm_collectives,
                "How long do six collectives take at each message size and rank count?",
                &estimate_collectives,
                &measure_collectives},
      RankProbe{fields::step_training,
                "How does a training step scale, and where does its time go?",
                &estimate_training,
                &measure_training},
  };
  return probes;
}

std::span<const RankProbe> device_rank_probes() {
  static constexpr std::array probes{
      RankProbe{fields::comm_nccl,
                "How long do NCCL's collectives take on each path, by which algorithm, and does it "
                "choose well?",
                &estimate_nccl,
                &measure_nccl},
      RankProbe{fields::step_training,
                "How does a training step scale over GPUs, and where does its time go?",
                &estimate_device_training,
                &measure_device_training},
      RankProbe{fields::step_variants,
                "What do CUDA graphs and tracing change of a training step?",
                &estimate_step_variants,
                &measure_step_variants},
  };
  return probes;
}
}  // namespace scaleworth::probes
