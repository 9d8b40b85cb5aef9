// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/column_sums.h"

namespace scaleworth::gpu {
namespace {

constexpr int final_threads = 128;

__device__ std::int64_t own_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void __launch_bounds__(column_threads) sum_bias(BiasGradient layer) {
  const std::int64_t column = own_index() * Pack::size;
  if (column < layer.columns) sum_bias_chunk(layer, column, static_cast<int>(blockIdx.y));
}

__global__ void __launch_bounds__(column_threads) sum_gain(GainGradient layer) {
  const std::int64_t column = own_index() * Pack::size;
  if (column < layer.width) sum_gain_chunk(layer, column, static_cast<int>(blockIdx.y));
}

__global__ void __launch_bounds__(final_threads)
    sum_chunks(std::int64_t columns, const float* partial, Bfloat16* sums) {
  const std::int64_t column = own_index();
  if (column < columns) sums[column] = sum_of_chunks(partial, columns, column);
}

dim3 chunk_grid(std::int64_t columns) {
  const std::int64_t packs = columns / Pack::size;
  return dim3(static_cast<unsigned>((packs + column_threads - 1) / column_threads), column_chunks);
}

cudaError_t launch_sum_chunks(std::int64_t columns,
                              const float* partial,
                              Bfloat16* sums,
                              cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((columns + final_threads - 1) / final_threads);
  sum_chunks<<<blocks, final_threads, 0, stream>>>(columns, partial, sums);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_bias_gradient(const BiasGradient& layer, cudaStream_t stream) {
  sum_bias<<<chunk_grid(layer.columns), column_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  return launch_sum_chunks(layer.columns, layer.partial, layer.sums, stream);
}

cudaError_t launch_gain_gradient(const GainGradient& layer, cudaStream_t stream) {
  sum_gain<<<chunk_grid(layer.width), column_threads, 0, stream>>>(layer);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  return launch_sum_chunks(2 * layer.width, layer.partial, layer.sums, stream);
}

}  // namespace scaleworth::gpu
