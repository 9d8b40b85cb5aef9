// SPDX-License-Identifier: Apache-2.0
/// AVX-512 (foundation): 32 registers of 512 bits, with FMA.
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx512() {
  constexpr int chains = 24;  // of 32 registers; two FMAs a cycle of latency 4 need 8
  return compute_table<Simd<float, 64, chains>, Simd<double, 64, chains>>("avx512");
}
}  // namespace scaleworth::probes::host
