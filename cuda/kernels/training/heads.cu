// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/heads.h"

namespace scaleworth::gpu {
namespace {

constexpr int threads = 256;

__device__ std::int64_t own_element() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Pack::size;
}

__global__ void __launch_bounds__(threads) split(Heads layer) {
  const std::int64_t index = own_element();
  if (index < element_count(layer)) split_pack(layer, index);
}

__global__ void __launch_bounds__(threads) merge(Heads layer) {
  const std::int64_t index = own_element();
  if (index < element_count(layer)) merge_pack(layer, index);
}

unsigned blocks_for(const Heads& layer) {
  const std::int64_t packs = element_count(layer) / Pack::size;
  return static_cast<unsigned>((packs + threads - 1) / threads);
}

}  // namespace

cudaError_t launch_split_heads(const Heads& layer, cudaStream_t stream) {
  split<<<blocks_for(layer), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_merge_heads(const Heads& layer, cudaStream_t stream) {
  merge<<<blocks_for(layer), threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
