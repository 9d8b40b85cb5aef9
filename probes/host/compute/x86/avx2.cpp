// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/avx2.h"

#include "probes/host/compute/isa_entries.h"
#include "probes/host/compute/kernel_templates.h"

namespace scaleworth::probes::host {

ComputeIsa compute_avx2() {
  return {.name = "avx2",
          .fused = true,
          .fp32 = ComputeTemplates<Avx2Float>::kernels(),
          .fp64 = ComputeTemplates<Avx2Double>::kernels()};
}

}  // namespace scaleworth::probes::host
