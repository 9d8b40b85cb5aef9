// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd.h"

#include <emmintrin.h>

namespace scaleworth::probes::host {
struct Sse2 : Simd<double, 16, 12> {
  static void stream(double* to, Register x) { _mm_stream_pd(to, x); }
  static void fence() { _mm_sfence(); }
};

StreamIsa stream_sse2() {
  return StreamTemplates<Sse2>::table("sse2");
}
}  // namespace scaleworth::probes::host
