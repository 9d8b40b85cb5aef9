// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx2.h"

namespace scaleworth::probes::host {
StreamIsa stream_avx2() {
  return StreamTemplates<Avx2Double>::table("avx2");
}
}  // namespace scaleworth::probes::host
