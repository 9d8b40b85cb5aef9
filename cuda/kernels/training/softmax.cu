// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/block.cuh"
#include "cuda/kernels/training/softmax.h"

namespace scaleworth::gpu {
namespace {

__device__ Share own_share() {
  return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
}

__global__ void __launch_bounds__(softmax_threads) softmax(Softmax layer) {
  const Share share = own_share();
  Bfloat16* row = layer.values + blockIdx.x * layer.width;
  const float maximum = maximum_block(maximum_of_row(share, layer.width, row));
  const float sum = sum_block(exponentials_of_row(share, layer.width, row, maximum));
  write_softmax(share, layer.width, maximum, 1.0F / sum, row);
}

__global__ void __launch_bounds__(softmax_threads) differentiate(SoftmaxGradient layer) {
  const Share share = own_share();
  const float dot = sum_block(dot_of_row(share, layer, blockIdx.x));
  write_softmax_gradient(share, layer, blockIdx.x, dot);
}

}  // namespace

cudaError_t launch_softmax(const Softmax& layer, cudaStream_t stream) {
  softmax<<<static_cast<unsigned>(layer.rows), softmax_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_softmax_gradient(const SoftmaxGradient& layer, cudaStream_t stream) {
  differentiate<<<static_cast<unsigned>(layer.rows), softmax_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
