// SPDX-License-Identifier: Apache-2.0
#include "probes/host/compute/kernels.h"
#include "probes/host/memory/stream_kernels.h"

#include <string_view>

namespace scaleworth::probes::host {

const StreamIsa& stream_isa() {
  static const StreamIsa isa = [] {
    const std::string_view widest = compute_isas().back().name;
    if (widest == "avx512") return stream_avx512();
    return widest == "avx2" ? stream_avx2() : stream_sse2();
  }();
  return isa;
}

}  // namespace scaleworth::probes::host
