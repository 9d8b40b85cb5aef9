// SPDX-License-Identifier: Apache-2.0
/// AVX-512 (foundation) registers: 32 of 512 bits, with FMA.
#pragma once

#include <immintrin.h>

namespace scaleworth::probes::host {
struct Avx512Double {
  using Scalar = double;
  using Register = __m512d;
  static constexpr int lanes = 8;
  static constexpr int chains = 24;  // of 32 registers; two FMAs a cycle of latency 4 need 8
  static Register load(const double* from) { return _mm512_load_pd(from); }
  static void store(double* to, Register x) { _mm512_store_pd(to, x); }
  static void stream(double* to, Register x) { _mm512_stream_pd(to, x); }
  static Register broadcast(double x) { return _mm512_set1_pd(x); }
  static Register add(Register x, Register y) { return _mm512_add_pd(x, y); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm512_fmadd_pd(x, a, b);
  }
  static void fence() { _mm_sfence(); }
};

struct Avx512Float {
  using Scalar = float;
  using Register = __m512;
  static constexpr int lanes = 16;
  static constexpr int chains = 24;
  static Register load(const float* from) { return _mm512_load_ps(from); }
  static void store(float* to, Register x) { _mm512_store_ps(to, x); }
  static Register broadcast(float x) { return _mm512_set1_ps(x); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm512_fmadd_ps(x, a, b);
  }
};
}  // namespace scaleworth::probes::host
