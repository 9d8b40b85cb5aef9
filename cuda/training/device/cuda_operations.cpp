// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/device/cuda_operations.h"

#include "cuda/runtime/error.h"

namespace scaleworth::gpu {

void CudaOperations::multiply(const GemmCall& call) {
  plans_.run(to_column_major(call), stream_);
}

void CudaOperations::layer_norm(const LayerNorm& layer) {
  check(launch_layer_norm(layer, stream_));
}

void CudaOperations::layer_norm_gradient(const LayerNormGradient& layer) {
  check(launch_layer_norm_gradient(layer, stream_));
}

void CudaOperations::gain_gradient(const GainGradient& layer) {
  check(launch_gain_gradient(layer, stream_));
}

void CudaOperations::bias_gradient(const BiasGradient& layer) {
  check(launch_bias_gradient(layer, stream_));
}

void CudaOperations::softmax(const Softmax& layer) {
  check(launch_softmax(layer, stream_));
}

void CudaOperations::softmax_gradient(const SoftmaxGradient& layer) {
  check(launch_softmax_gradient(layer, stream_));
}

void CudaOperations::gelu(const Gelu& layer) {
  check(launch_gelu(layer, stream_));
}

void CudaOperations::gelu_gradient(const GeluGradient& layer) {
  check(launch_gelu_gradient(layer, stream_));
}

void CudaOperations::embed(const Embedding& layer) {
  check(launch_embedding(layer, stream_));
}

void CudaOperations::embedding_gradient(const EmbeddingGradient& layer) {
  check(launch_embedding_gradient(layer, stream_));
}

void CudaOperations::split_heads(const Heads& layer) {
  check(launch_split_heads(layer, stream_));
}

void CudaOperations::merge_heads(const Heads& layer) {
  check(launch_merge_heads(layer, stream_));
}

void CudaOperations::cross_entropy(const CrossEntropy& layer) {
  check(launch_cross_entropy(layer, stream_));
}

void CudaOperations::sum_losses(const LossSum& sum) {
  check(launch_loss_sum(sum, stream_));
}

void CudaOperations::adam(const Adam& adam) {
  check(launch_adam(adam, stream_));
}

void CudaOperations::initialise(const InitialWeights& initial) {
  check(launch_initial_weights(initial, stream_));
}

}  // namespace scaleworth::gpu
