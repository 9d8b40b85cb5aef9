// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/block.cuh"
#include "cuda/kernels/training/normalization.h"

namespace scaleworth::gpu {
namespace {
__global__ void __launch_bounds__(layer_norm_threads) normalise(LayerNorm layer) {
  const std::int64_t token = blockIdx.x;
  const Share share = own_share();
  const Bfloat16* row = layer.x + token * layer.width;
  const float count = static_cast<float>(layer.width);
  const float mean = sum_block(sum_of_row(share, layer.width, row)) / count;
  const float variance = sum_block(squared_deviation_of_row(share, layer.width, row, mean)) / count;
  const float inverse = 1.0F / sqrtf(variance + layer_norm_epsilon);
  write_normalised(share, layer, token, mean, inverse);
  if (threadIdx.x == 0) {
    layer.mean[token] = mean;
    layer.inverse[token] = inverse;
  }
}

__global__ void __launch_bounds__(layer_norm_threads) differentiate(LayerNormGradient layer) {
  const std::int64_t token = blockIdx.x;
  const Share share = own_share();
  const LayerNormSums own = gradient_sums(share, layer, token);
  const LayerNormSums all{sum_block(own.scaled), sum_block(own.projected)};
  write_gradient(share, layer, token, all);
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

cudaError_t launch_layer_norm(const LayerNorm& layer, cudaStream_t stream) {
  normalise<<<static_cast<unsigned>(layer.tokens), layer_norm_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_layer_norm_gradient(const LayerNormGradient& layer, cudaStream_t stream) {
  differentiate<<<static_cast<unsigned>(layer.tokens), layer_norm_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_softmax(const Softmax& layer, cudaStream_t stream) {
  softmax<<<static_cast<unsigned>(layer.rows), softmax_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_softmax_gradient(const SoftmaxGradient& layer, cudaStream_t stream) {
  differentiate<<<static_cast<unsigned>(layer.rows), softmax_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}
}  // namespace scaleworth::gpu
