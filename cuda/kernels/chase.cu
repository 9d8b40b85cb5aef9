// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

namespace scaleworth::gpu {
namespace {
__device__ __forceinline__ char* node_at(const ChaseNodes& nodes, std::uint32_t index) {
  return static_cast<char*>(nodes.base) + nodes.stride * index;
}

__global__ void chase_link(ChaseNodes nodes) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < nodes.count; i += stride) {
    *reinterpret_cast<void**>(node_at(nodes, i)) = node_at(nodes, nodes.next[i]);
  }
}

__device__ __forceinline__ std::uint64_t follow(std::uint64_t position, std::uint64_t loads) {
  for (std::uint64_t i = 0; i < loads; i += chase_loads_at_once) {
#pragma unroll
    for (int u = 0; u < chase_loads_at_once; ++u) {
      asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(position));
    }
  }
  return position;
}

/// The readings stand behind the loads before them: each is made to depend on `position`.
__device__ __forceinline__ std::uint64_t nanoseconds_after(std::uint64_t& position) {
  std::uint64_t now;
  asm volatile("{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%globaltimer; }"
               : "=l"(now), "+l"(position)::"memory");
  return now;
}
__device__ __forceinline__ std::uint64_t cycles_after(std::uint64_t& position) {
  std::uint64_t now;
  asm volatile("{ .reg .pred p; setp.ne.u64 p, %1, 0; @p mov.u64 %0, %%clock64; }"
               : "=l"(now), "+l"(position)::"memory");
  return now;
}

__global__ void chase(ChaseState* state, std::uint64_t warm_loads, std::uint64_t loads) {
  std::uint64_t position = reinterpret_cast<std::uint64_t>(state->position);
  position = follow(position, warm_loads);
  const std::uint64_t first_nanoseconds = nanoseconds_after(position);
  const std::uint64_t first_cycles = cycles_after(position);
  position = follow(position, loads);
  const std::uint64_t last_cycles = cycles_after(position);
  const std::uint64_t last_nanoseconds = nanoseconds_after(position);
  state->position = reinterpret_cast<void*>(position);
  state->nanoseconds = last_nanoseconds - first_nanoseconds;
  state->cycles = last_cycles - first_cycles;
}
}  // namespace

cudaError_t launch_chase_link(const ChaseNodes& nodes, cudaStream_t stream) {
  // Any size that fills a multiprocessor: this kernel is not timed.
  constexpr unsigned threads = 256;
  constexpr unsigned most_blocks = 4096;  // more than run at once; threads take several nodes
  const unsigned needed = (nodes.count + threads - 1) / threads;
  const unsigned blocks = needed < most_blocks ? needed : most_blocks;
  if (blocks == 0) return cudaErrorInvalidValue;
  chase_link<<<blocks, threads, 0, stream>>>(nodes);
  return cudaGetLastError();
}

cudaError_t launch_chase(ChaseState* state,
                         std::uint64_t warm_loads,
                         std::uint64_t loads,
                         cudaStream_t stream) {
  if (warm_loads % chase_loads_at_once != 0 || loads % chase_loads_at_once != 0 || loads == 0) {
    return cudaErrorInvalidValue;
  }
  chase<<<1, 1, 0, stream>>>(state, warm_loads, loads);
  return cudaGetLastError();
}
}  // namespace scaleworth::gpu
