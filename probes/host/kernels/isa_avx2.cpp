// SPDX-License-Identifier: Apache-2.0
/// AVX2: 16 registers of 256 bits, with FMA3.
#include "probes/host/kernels/kernel_templates.h"

#include <immintrin.h>

namespace scaleworth::probes::host {
ComputeIsa compute_avx2() {
  constexpr int chains = 12;  // of 16 registers; two FMAs a cycle of latency 4 need 8
  return compute_table<Simd<float, 32, chains>, Simd<double, 32, chains>>("avx2");
}

struct Avx2 : Simd<double, 32, 12> {
  static void stream(double* to, Register x) { _mm256_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_avx2() {
  return StreamTemplates<Avx2>::table("avx2");
}
}  // namespace scaleworth::probes::host
