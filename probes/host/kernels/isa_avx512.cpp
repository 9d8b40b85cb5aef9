// SPDX-License-Identifier: Apache-2.0
/// AVX-512 (foundation): 32 registers of 512 bits, with FMA.
#include "probes/host/kernels/kernel_templates.h"

#include <immintrin.h>

namespace scaleworth::probes::host {
ComputeIsa compute_avx512() {
  constexpr int chains = 24;  // of 32 registers; two FMAs a cycle of latency 4 need 8
  return compute_table<Simd<float, 64, chains>, Simd<double, 64, chains>>("avx512");
}

struct Avx512 : Simd<double, 64, 24> {
  static void stream(double* to, Register x) { _mm512_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_avx512() {
  return StreamTemplates<Avx512>::table("avx512");
}
}  // namespace scaleworth::probes::host
