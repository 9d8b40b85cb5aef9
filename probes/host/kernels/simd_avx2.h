// SPDX-License-Identifier: Apache-2.0
/// AVX2 registers: 16 of 256 bits, with FMA3.
#pragma once

#include <immintrin.h>

namespace scaleworth::probes::host {
struct Avx2Double {
  using Scalar = double;
  using Register = __m256d;
  static constexpr int lanes = 4;
  static constexpr int chains = 12;  // of 16 registers; two FMAs a cycle of latency 4 need 8
  static Register load(const double* from) { return _mm256_load_pd(from); }
  static void store(double* to, Register x) { _mm256_store_pd(to, x); }
  static void stream(double* to, Register x) { _mm256_stream_pd(to, x); }
  static Register broadcast(double x) { return _mm256_set1_pd(x); }
  static Register add(Register x, Register y) { return _mm256_add_pd(x, y); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm256_fmadd_pd(x, a, b);
  }
  static void fence() { _mm_sfence(); }
};

struct Avx2Float {
  using Scalar = float;
  using Register = __m256;
  static constexpr int lanes = 8;
  static constexpr int chains = 12;
  static Register load(const float* from) { return _mm256_load_ps(from); }
  static void store(float* to, Register x) { _mm256_store_ps(to, x); }
  static Register broadcast(float x) { return _mm256_set1_ps(x); }
  static Register multiply_add(Register x, Register a, Register b) {
    return _mm256_fmadd_ps(x, a, b);
  }
};
}  // namespace scaleworth::probes::host
