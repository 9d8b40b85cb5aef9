// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/avx2.h"

#include "probes/host/memory/stream_templates.h"

namespace scaleworth::probes::host {

StreamIsa stream_avx2() {
  return StreamTemplates<Avx2Double>::table("avx2");
}

}  // namespace scaleworth::probes::host
