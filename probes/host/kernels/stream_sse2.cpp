// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_sse2.h"

namespace scaleworth::probes::host {
StreamIsa stream_sse2() {
  return StreamTemplates<Sse2Double>::table("sse2");
}
}  // namespace scaleworth::probes::host
