// SPDX-License-Identifier: Apache-2.0
/// Advanced SIMD of 64-bit Arm: 32 registers of 128 bits, with FMA. Each such CPU has it.
#include "probes/host/kernels/kernel_templates.h"

namespace scaleworth::probes::host {
ComputeIsa compute_neon() {
  constexpr int chains = 24;  // of 32 registers; four FMAs a cycle of latency 4 need 16
  return compute_table<Simd<float, 16, chains>, Simd<double, 16, chains>>("neon");
}

struct Neon : Simd<double, 16, 24> {
  /// A pair of stores with the non-temporal hint, for which there is no intrinsic.
  static void stream(double* to, Register x) {
    asm volatile("stnp %d0, %d1, [%2]" : : "w"(x[0]), "w"(x[1]), "r"(to) : "memory");
  }
  static void fence() { asm volatile("dmb ishst" ::: "memory"); }
};

StreamIsa stream_neon() {
  return StreamTemplates<Neon>::table("neon");
}

std::span<const ComputeIsa> compute_isas() {
  static const ComputeIsa neon = compute_neon();
  return {&neon, 1};
}

const StreamIsa& stream_isa() {
  static const StreamIsa isa = stream_neon();
  return isa;
}
}  // namespace scaleworth::probes::host
