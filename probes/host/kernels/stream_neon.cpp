// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/kernel_templates.h"
#include "probes/host/kernels/simd_neon.h"

namespace scaleworth::probes::host {
StreamIsa stream_neon() {
  return StreamTemplates<NeonDouble>::table("neon");
}
}  // namespace scaleworth::probes::host
