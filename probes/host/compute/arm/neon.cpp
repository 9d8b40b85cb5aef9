// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/neon.h"

#include "probes/host/compute/isa_entries.h"
#include "probes/host/compute/kernel_templates.h"

namespace scaleworth::probes::host {

ComputeIsa compute_neon() {
  return {.name = "neon",
          .fused = true,
          .fp32 = ComputeTemplates<NeonFloat>::kernels(),
          .fp64 = ComputeTemplates<NeonDouble>::kernels()};
}

}  // namespace scaleworth::probes::host
