// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/embedding.h"

namespace scaleworth::gpu {
namespace {

__global__ void __launch_bounds__(embedding_threads) embed(Embedding layer) {
  const Share share{static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  write_embedding(share, layer, blockIdx.x);
}

__device__ std::int64_t own_column() {
  return (static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x) * Pack::size;
}

__global__ void __launch_bounds__(embedding_threads) gather_tokens(EmbeddingGradient layer) {
  const std::int64_t column = own_column();
  if (column < layer.width) write_token_gradient(layer, blockIdx.x, column);
}

__global__ void __launch_bounds__(embedding_threads) gather_positions(EmbeddingGradient layer) {
  const std::int64_t column = own_column();
  if (column < layer.width) write_position_gradient(layer, blockIdx.x, column);
}

}  // namespace

cudaError_t launch_embedding(const Embedding& layer, cudaStream_t stream) {
  embed<<<static_cast<unsigned>(layer.tokens), embedding_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_embedding_gradient(const EmbeddingGradient& layer, cudaStream_t stream) {
  const std::int64_t packs = layer.width / Pack::size;
  const auto columns = static_cast<unsigned>((packs + embedding_threads - 1) / embedding_threads);
  const dim3 rows(static_cast<unsigned>(layer.vocabulary), columns);
  gather_tokens<<<rows, embedding_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  const dim3 places(static_cast<unsigned>(layer.sequence), columns);
  gather_positions<<<places, embedding_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
