// SPDX-License-Identifier: Apache-2.0
/// Advanced SIMD of 64-bit Arm: 32 registers of 128 bits, with FMA.
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

namespace scaleworth::probes::host {
ComputeIsa compute_neon() {
  constexpr int chains = 24;  // of 32 registers; four FMAs a cycle of latency 4 need 16
  return compute_table<Simd<float, 16, chains>, Simd<double, 16, chains>>("neon");
}
}  // namespace scaleworth::probes::host
