// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/block.cuh"
#include "cuda/kernels/training/loss.h"

namespace scaleworth::gpu {
namespace {

__device__ Share own_share() {
  return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
}

__global__ void __launch_bounds__(loss_threads) cross_entropy(CrossEntropy layer) {
  const std::int64_t token = blockIdx.x;
  const Share share = own_share();
  const Bfloat16* row = layer.logits + token * layer.vocabulary;
  // Read before the barriers of the reductions, behind which the row is overwritten.
  const float target_logit = to_float(row[target_of(layer, token)]);
  const float maximum = maximum_block(maximum_of_row(share, layer.vocabulary, row));
  const float sum = sum_block(exponentials_of_row(share, layer.vocabulary, row, maximum));
  write_loss_gradient(share, layer, token, maximum, sum);
  if (threadIdx.x == 0) layer.losses[token] = loss_of_token(target_logit, maximum, sum);
}

__global__ void __launch_bounds__(loss_threads) add_losses(LossSum sum) {
  const float total = sum_block(losses_of_share(own_share(), sum));
  if (threadIdx.x != 0) return;
  sum.result[0] = total * sum.scale;
  sum.result[1] = *sum.stop;
}

}  // namespace

cudaError_t launch_cross_entropy(const CrossEntropy& layer, cudaStream_t stream) {
  cross_entropy<<<static_cast<unsigned>(layer.tokens), loss_threads, 0, stream>>>(layer);
  return cudaGetLastError();
}

cudaError_t launch_loss_sum(const LossSum& sum, cudaStream_t stream) {
  add_losses<<<1, loss_threads, 0, stream>>>(sum);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
