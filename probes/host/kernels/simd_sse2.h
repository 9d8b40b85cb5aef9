// SPDX-License-Identifier: Apache-2.0
/// SSE2 registers: 16 of 128 bits, no fused multiply-add.
#pragma once

#include <emmintrin.h>

namespace scaleworth::probes::host {
struct Sse2Double {
  using Scalar = double;
  using Register = __m128d;
  static constexpr int lanes = 2;
  static constexpr int chains = 12;  // of 16 registers; multiply and add latency need 8
  static Register load(const double* from) { return _mm_load_pd(from); }
  static void store(double* to, Register x) { _mm_store_pd(to, x); }
  static void stream(double* to, Register x) { _mm_stream_pd(to, x); }
  static Register broadcast(double x) { return _mm_set1_pd(x); }
  static Register add(Register x, Register y) { return _mm_add_pd(x, y); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm_add_pd(_mm_mul_pd(x, a), b);
  }
  static void fence() { _mm_sfence(); }
};

struct Sse2Float {
  using Scalar = float;
  using Register = __m128;
  static constexpr int lanes = 4;
  static constexpr int chains = 12;
  static Register load(const float* from) { return _mm_load_ps(from); }
  static void store(float* to, Register x) { _mm_store_ps(to, x); }
  static Register broadcast(float x) { return _mm_set1_ps(x); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm_add_ps(_mm_mul_ps(x, a), b);
  }
};
}  // namespace scaleworth::probes::host
