// SPDX-License-Identifier: Apache-2.0
/// The table of node probes, in the order in which they run.
#include "probes/registry.h"

#include "probes/roofline/gemm.h"
#include "probes/roofline/probes.h"
#include "src/core/run/fields.h"

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

}  // namespace scaleworth::probes
