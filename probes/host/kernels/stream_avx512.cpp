// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_avx512.h"

namespace scaleworth::probes::host {
StreamIsa stream_avx512() {
  return StreamTemplates<Avx512Double>::table("avx512");
}
}  // namespace scaleworth::probes::host
