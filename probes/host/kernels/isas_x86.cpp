// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/compute.h"

#include <string_view>

namespace scaleworth::probes::host {
// Run-time choice on x86-64: the CPU's flags and the register state that the operating system
// saves (the compiler's __builtin_cpu_supports checks both).

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
