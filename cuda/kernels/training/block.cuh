// SPDX-License-Identifier: Apache-2.0
/// Reductions over a block, the same order on every run; the places of blocks and threads.
#pragma once

#include "cuda/kernels/training/share.h"

#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// join over all threads' values, on every thread. All threads of the block call it; their number
/// is a multiple of 32. Order: butterflies within each warp, then warp after warp.
template <class Join>
__device__ float join_block(float value, Join join) {
  __shared__ float warps[32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value = join(value, __shfl_xor_sync(0xFFFFFFFFU, value, offset));
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) value = join(value, warps[i]);
  __syncthreads();  // before a next call writes there
  return value;
}

__device__ inline float sum_block(float value) {
  return join_block(value, [](float a, float b) { return a + b; });
}

__device__ inline float maximum_block(float value) {
  return join_block(value, [](float a, float b) { return fmaxf(a, b); });
}

__device__ inline Share own_share() {
  return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
}

__device__ inline std::int64_t own_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

inline unsigned blocks_for(std::int64_t items, int threads) {
  return static_cast<unsigned>((items + threads - 1) / threads);
}
}  // namespace scaleworth::gpu
