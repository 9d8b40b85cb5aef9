// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_sse2.h"

namespace scaleworth::probes::host {
ComputeIsa compute_sse2() {
  return compute_table<Sse2Float, Sse2Double>("sse2", false);
}
}  // namespace scaleworth::probes::host
