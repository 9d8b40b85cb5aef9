// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/sse2.h"

#include "probes/host/memory/stream_templates.h"

namespace scaleworth::probes::host {

StreamIsa stream_sse2() {
  return StreamTemplates<Sse2Double>::table("sse2");
}

}  // namespace scaleworth::probes::host
