// SPDX-License-Identifier: Apache-2.0
#include "probes/host/cpu_state.h"
#include "probes/host/kernels/compute.h"

namespace scaleworth::probes::host {
// Advanced SIMD is part of every 64-bit Arm CPU: nothing to choose.

std::span<const ComputeIsa> compute_isas() {
  static const ComputeIsa neon = compute_neon();
  return {&neon, 1};
}

const StreamIsa& stream_isa() {
  static const StreamIsa isa = stream_neon();
  return isa;
}

/// CPUID is an instruction of x86 alone.
CpuidFacts read_cpuid() {
  return {};
}
}  // namespace scaleworth::probes::host
