// SPDX-License-Identifier: Apache-2.0
/// A chain of dependent loads by one thread.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Node i lies at stride i + (spread i mod stride) bytes behind `base` and gets the address of node
/// next[i]. `spread` of 0: nodes at the starts of their strides; otherwise a multiple of 8 that
/// divides the stride, so that nodes of a large stride do not all meet in one set of a cache.
struct ChaseNodes {
  void* base = nullptr;
  std::uint64_t stride = 128;
  std::uint64_t spread = 0;
  const std::uint32_t* next = nullptr;  // on the GPU
  std::uint32_t count = 0;
};
cudaError_t launch_chase_link(const ChaseNodes& nodes, cudaStream_t stream);

/// On the GPU. `position` is where the last chase ended, at first the base. Times of the loads that
/// count, as the kernel read them.
struct ChaseState {
  void* position;
  std::uint64_t nanoseconds;
  std::uint64_t cycles;
};

inline constexpr int chase_loads_at_once = 32;

/// One thread follows `warm_loads` addresses, then `loads` timed ones (both multiples of
/// chase_loads_at_once) through all caches.
cudaError_t launch_chase(ChaseState* state,
                         std::uint64_t warm_loads,
                         std::uint64_t loads,
                         cudaStream_t stream);

}  // namespace scaleworth::gpu
