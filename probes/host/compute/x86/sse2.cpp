// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/sse2.h"

#include "probes/host/compute/isa_entries.h"
#include "probes/host/compute/kernel_templates.h"

namespace scaleworth::probes::host {

ComputeIsa compute_sse2() {
  return {.name = "sse2",
          .fused = false,
          .fp32 = ComputeTemplates<Sse2Float>::kernels(),
          .fp64 = ComputeTemplates<Sse2Double>::kernels()};
}

}  // namespace scaleworth::probes::host
