// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_neon.h"

namespace scaleworth::probes::host {
ComputeIsa compute_neon() {
  return compute_table<NeonFloat, NeonDouble>("neon");
}
}  // namespace scaleworth::probes::host
