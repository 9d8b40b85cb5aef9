// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx512.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx512() {
  return compute_table<Avx512Float, Avx512Double>("avx512");
}
}  // namespace scaleworth::probes::host
