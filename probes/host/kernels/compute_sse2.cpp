// SPDX-License-Identifier: Apache-2.0
/// SSE2: 16 registers of 128 bits, no fused multiply-add.
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

namespace scaleworth::probes::host {
ComputeIsa compute_sse2() {
  constexpr int chains = 12;  // of 16 registers; multiply and add latency need 8
  return compute_table<Simd<float, 16, chains>, Simd<double, 16, chains>>("sse2", false);
}
}  // namespace scaleworth::probes::host
