// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx2.h"

namespace scaleworth::probes::host {
ComputeIsa compute_avx2() {
  return compute_table<Avx2Float, Avx2Double>("avx2");
}
}  // namespace scaleworth::probes::host
