// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/collectives/pattern.h"

namespace scaleworth::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr std::size_t most_blocks = 4096;

__device__ float place_term(std::size_t index) {
  return static_cast<float>((static_cast<unsigned>(index) * 2654435761U) >> 22U);
}

__device__ std::size_t first_index() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::size_t grid_stride() {
  return static_cast<std::size_t>(gridDim.x) * blockDim.x;
}

__global__ void fill(float* data, std::size_t count, float rank_term) {
  for (std::size_t i = first_index(); i < count; i += grid_stride()) {
    data[i] = place_term(i) + rank_term;
  }
}

__global__ void count_errors(PatternStretch stretch, unsigned long long* errors) {
  unsigned long long wrong = 0;
  for (std::size_t i = first_index(); i < stretch.count; i += grid_stride()) {
    const float expected = stretch.scale * place_term(stretch.first + i) + stretch.offset;
    // Written so that a NaN counts.
    if (!(stretch.data[i] == expected)) ++wrong;
  }
  if (wrong != 0) atomicAdd(errors, wrong);
}

unsigned blocks_for(std::size_t count) {
  const std::size_t blocks = (count + block_threads - 1) / block_threads;
  return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

}  // namespace

cudaError_t launch_fill_pattern(float* data,
                                std::size_t count,
                                float rank_term,
                                cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  fill<<<blocks_for(count), block_threads, 0, stream>>>(data, count, rank_term);
  return cudaGetLastError();
}

cudaError_t launch_count_errors(const PatternStretch& stretch,
                                unsigned long long* errors,
                                cudaStream_t stream) {
  if (stretch.count == 0) return cudaSuccess;
  count_errors<<<blocks_for(stretch.count), block_threads, 0, stream>>>(stretch, errors);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
