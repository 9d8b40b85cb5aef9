// SPDX-License-Identifier: Apache-2.0
/// The operations of the training step in plain C++: the kernels' own mathematics, thread after
/// thread; products by definition, column-major as cuBLASLt is told.
#pragma once

#include "cuda/training/transformer.h"

#include <memory>
#include <vector>

namespace scaleworth::testing {

class PlainMemory final : public gpu::TrainingMemory {
 public:
  void* allocate(std::size_t bytes) override;

 private:
  struct Free {
    void operator()(void* address) const;
  };
  std::vector<std::unique_ptr<void, Free>> blocks_;
};

class PlainOperations : public gpu::TrainingOperations {
 public:
  void multiply(const gpu::GemmCall& call) override;
  void layer_norm(const gpu::LayerNorm& layer) override;
  void layer_norm_gradient(const gpu::LayerNormGradient& layer) override;
  void gain_gradient(const gpu::GainGradient& layer) override;
  void bias_gradient(const gpu::BiasGradient& layer) override;
  void softmax(const gpu::Softmax& layer) override;
  void softmax_gradient(const gpu::SoftmaxGradient& layer) override;
  void gelu(const gpu::Gelu& layer) override;
  void gelu_gradient(const gpu::GeluGradient& layer) override;
  void embed(const gpu::Embedding& layer) override;
  void embedding_gradient(const gpu::EmbeddingGradient& layer) override;
  void split_heads(const gpu::Heads& layer) override;
  void merge_heads(const gpu::Heads& layer) override;
  void cross_entropy(const gpu::CrossEntropy& layer) override;
  void sum_losses(const gpu::LossSum& sum) override;
  void adam(const gpu::Adam& adam) override;
  void initialise(const gpu::InitialWeights& initial) override;

  double flops = 0.0;  // of all products so far
};

}  // namespace scaleworth::testing
