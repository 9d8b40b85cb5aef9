// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/device.h"

namespace scaleworth::probes {
MemoryPlace place_of(const Endpoint& endpoint) {
  if (endpoint.device) return {TransferEnd::gpu, *endpoint.device};
  return {endpoint.pinned ? TransferEnd::host_pinned : TransferEnd::host_pageable,
          endpoint.numa_node};
}
}  // namespace scaleworth::probes
