// SPDX-License-Identifier: Apache-2.0
/// The operations of the training step on a GPU: each is queued on one stream.
#pragma once

#include "cuda/training/device/gemm_plans.h"
#include "cuda/training/pass/operations.h"

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Throws gpu::Error or what GemmPlans::run throws. `plans` and the stream outlive it.
class CudaOperations final : public TrainingOperations {
 public:
  CudaOperations(GemmPlans& plans, cudaStream_t stream) : plans_(plans), stream_(stream) {}

  void multiply(const GemmCall& call) override;
  void layer_norm(const LayerNorm& layer) override;
  void layer_norm_gradient(const LayerNormGradient& layer) override;
  void gain_gradient(const GainGradient& layer) override;
  void bias_gradient(const BiasGradient& layer) override;
  void softmax(const Softmax& layer) override;
  void softmax_gradient(const SoftmaxGradient& layer) override;
  void gelu(const Gelu& layer) override;
  void gelu_gradient(const GeluGradient& layer) override;
  void embed(const Embedding& layer) override;
  void embedding_gradient(const EmbeddingGradient& layer) override;
  void split_heads(const Heads& layer) override;
  void merge_heads(const Heads& layer) override;
  void cross_entropy(const CrossEntropy& layer) override;
  void sum_losses(const LossSum& sum) override;
  void adam(const Adam& adam) override;
  void initialise(const InitialWeights& initial) override;

 private:
  GemmPlans& plans_;
  cudaStream_t stream_;
};

}  // namespace scaleworth::gpu
