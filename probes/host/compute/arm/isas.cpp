// SPDX-License-Identifier: Apache-2.0
/// Advanced SIMD is part of every 64-bit Arm CPU: nothing to choose.
#include "probes/host/compute/isa_entries.h"

namespace scaleworth::probes::host {

std::span<const ComputeIsa> compute_isas() {
  static const ComputeIsa neon = compute_neon();
  return {&neon, 1};
}

}  // namespace scaleworth::probes::host
