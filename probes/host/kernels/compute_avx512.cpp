// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx512.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx512() {
  return {.name = "avx512",
          .fused = true,
          .fp32 = ComputeTemplates<Avx512Float>::kernels(),
          .fp64 = ComputeTemplates<Avx512Double>::kernels()};
}
}  // namespace scaleworth::probes::host
