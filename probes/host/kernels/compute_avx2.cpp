// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx2.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx2() {
  return {.name = "avx2",
          .fused = true,
          .fp32 = ComputeTemplates<Avx2Float>::kernels(),
          .fp64 = ComputeTemplates<Avx2Double>::kernels()};
}
}  // namespace scaleworth::probes::host
