// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

#include <immintrin.h>

namespace scaleworth::probes::host {
struct Avx512 : Simd<double, 64, 24> {
  static void stream(double* to, Register x) { _mm512_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_avx512() {
  return StreamTemplates<Avx512>::table("avx512");
}
}  // namespace scaleworth::probes::host
