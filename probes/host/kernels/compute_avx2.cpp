// SPDX-License-Identifier: Apache-2.0
/// AVX2: 16 registers of 256 bits, with FMA3.
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx2() {
  constexpr int chains = 12;  // of 16 registers; two FMAs a cycle of latency 4 need 8
  return compute_table<Simd<float, 32, chains>, Simd<double, 32, chains>>("avx2");
}
}  // namespace scaleworth::probes::host
