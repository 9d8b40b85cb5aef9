// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/simd/avx512.h"

#include "probes/host/memory/stream_templates.h"

namespace scaleworth::probes::host {

StreamIsa stream_avx512() {
  return StreamTemplates<Avx512Double>::table("avx512");
}

}  // namespace scaleworth::probes::host
