// SPDX-License-Identifier: Apache-2.0
/// SSE2: 16 registers of 128 bits, no fused multiply-add.
#include "probes/host/kernels/kernel_templates.h"

#include <emmintrin.h>

namespace scaleworth::probes::host {
ComputeIsa compute_sse2() {
  constexpr int chains = 12;  // of 16 registers; multiply and add latency need 8
  return compute_table<Simd<float, 16, chains>, Simd<double, 16, chains>>("sse2", false);
}

struct Sse2 : Simd<double, 16, 12> {
  static void stream(double* to, Register x) { _mm_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_sse2() {
  return StreamTemplates<Sse2>::table("sse2");
}
}  // namespace scaleworth::probes::host
