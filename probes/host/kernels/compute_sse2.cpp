// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_sse2.h"

namespace scaleworth::probes::host {
ComputeIsa compute_sse2() {
  return {.name = "sse2",
          .fused = false,
          .fp32 = ComputeTemplates<Sse2Float>::kernels(),
          .fp64 = ComputeTemplates<Sse2Double>::kernels()};
}
}  // namespace scaleworth::probes::host
