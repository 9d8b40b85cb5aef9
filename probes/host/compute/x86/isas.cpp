// SPDX-License-Identifier: Apache-2.0
/// Run-time choice on x86-64: the CPU's flags and the register state that the operating system
/// saves (the compiler's __builtin_cpu_supports checks both).
#include "probes/host/compute/isa_entries.h"

#include <vector>

namespace scaleworth::probes::host {

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

}  // namespace scaleworth::probes::host
