// SPDX-License-Identifier: Apache-2.0
/// SSE2: 16 registers of 128 bits, no fused multiply-add; and the choice on x86-64, of which each
/// CPU has it.
#include "probes/host/kernels/kernel_templates.h"

#include <string_view>

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

// The CPU's flags and the register state that the operating system saves: the compiler's
// __builtin_cpu_supports checks both.

std::span<const ComputeIsa> compute_isas() {
  static const std::vector<ComputeIsa> isas = [] {
    __builtin_cpu_init();
    std::vector<ComputeIsa> found{compute_sse2()};
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2) found.push_back(compute_avx2());
    if (avx2 && __builtin_cpu_supports("avx512f")) found.push_back(compute_avx512());
    return found;
  }();
  return isas;
}

const StreamIsa& stream_isa() {
  static const StreamIsa isa = [] {
    const std::string_view widest = compute_isas().back().name;
    if (widest == "avx512") return stream_avx512();
    return widest == "avx2" ? stream_avx2() : stream_sse2();
  }();
  return isa;
}
}  // namespace scaleworth::probes::host
