// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_neon.h"

namespace scaleworth::probes::host {
ComputeIsa compute_neon() {
  return {.name = "neon",
          .fused = true,
          .fp32 = ComputeTemplates<NeonFloat>::kernels(),
          .fp64 = ComputeTemplates<NeonDouble>::kernels()};
}
}  // namespace scaleworth::probes::host
