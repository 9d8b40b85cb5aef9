// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/neon.h"

#include "probes/host/memory/stream_templates.h"

namespace scaleworth::probes::host {

StreamIsa stream_neon() {
  return StreamTemplates<NeonDouble>::table("neon");
}

}  // namespace scaleworth::probes::host
