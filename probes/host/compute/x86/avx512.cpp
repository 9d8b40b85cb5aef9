// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/avx512.h"

#include "probes/host/compute/isa_entries.h"
#include "probes/host/compute/kernel_templates.h"

namespace scaleworth::probes::host {

ComputeIsa compute_avx512() {
  return {.name = "avx512",
          .fused = true,
          .fp32 = ComputeTemplates<Avx512Float>::kernels(),
          .fp64 = ComputeTemplates<Avx512Double>::kernels()};
}

}  // namespace scaleworth::probes::host
