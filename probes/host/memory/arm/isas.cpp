// SPDX-License-Identifier: Apache-2.0
#include "probes/host/memory/stream_kernels.h"

namespace scaleworth::probes::host {

const StreamIsa& stream_isa() {
  static const StreamIsa isa = stream_neon();
  return isa;
}

}  // namespace scaleworth::probes::host
