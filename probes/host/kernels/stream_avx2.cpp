// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

#include <immintrin.h>

namespace scaleworth::probes::host {
struct Avx2 : Simd<double, 32, 12> {
  static void stream(double* to, Register x) { _mm256_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_avx2() {
  return StreamTemplates<Avx2>::table("avx2");
}
}  // namespace scaleworth::probes::host
