// SPDX-License-Identifier: Apache-2.0
/// Advanced SIMD registers of 64-bit Arm: 32 of 128 bits, with FMA.
#pragma once

#include <arm_neon.h>

namespace scaleworth::probes::host {
struct NeonDouble {
  using Scalar = double;
  using Register = float64x2_t;
  static constexpr int lanes = 2;
  static constexpr int chains = 24;  // of 32 registers; four FMAs a cycle of latency 4 need 16
  static Register load(const double* from) { return vld1q_f64(from); }
  static void store(double* to, Register x) { vst1q_f64(to, x); }
  /// A pair of stores with the non-temporal hint, for which there is no intrinsic.
  static void stream(double* to, Register x) {
    asm volatile("stnp %d0, %d1, [%2]"
                 :
                 : "w"(vget_low_f64(x)), "w"(vget_high_f64(x)), "r"(to)
                 : "memory");
  }
  static void fence() { asm volatile("dmb ishst" ::: "memory"); }
  static Register broadcast(double x) { return vdupq_n_f64(x); }
  static Register add(Register x, Register y) { return vaddq_f64(x, y); }
  static Register multiply_add(Register x, Register a, Register b) { return vfmaq_f64(b, x, a); }
};

struct NeonFloat {
  using Scalar = float;
  using Register = float32x4_t;
  static constexpr int lanes = 4;
  static constexpr int chains = 24;
  static Register load(const float* from) { return vld1q_f32(from); }
  static void store(float* to, Register x) { vst1q_f32(to, x); }
  static Register broadcast(float x) { return vdupq_n_f32(x); }
  static Register multiply_add(Register x, Register a, Register b) { return vfmaq_f32(b, x, a); }
};
}  // namespace scaleworth::probes::host
