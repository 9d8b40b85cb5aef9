// SPDX-License-Identifier: Apache-2.0
/// What the training step asks of the thing that computes it: a GPU, or plain C++ in tests.
#pragma once

#include "cuda/kernels/training/column_sums.h"
#include "cuda/kernels/training/elementwise.h"
#include "cuda/kernels/training/embedding.h"
#include "cuda/kernels/training/heads.h"
#include "cuda/kernels/training/initial_weights.h"
#include "cuda/kernels/training/layer_norm.h"
#include "cuda/kernels/training/loss.h"
#include "cuda/kernels/training/softmax.h"
#include "cuda/training/pass/gemm_call.h"

namespace scaleworth::gpu {

/// Each takes effect in the order of the calls; memory is TrainingMemory's. Nobody but the
/// implementation reads or writes behind the addresses.
class TrainingOperations {
 public:
  virtual ~TrainingOperations() = default;
  virtual void multiply(const GemmCall& call) = 0;
  virtual void layer_norm(const LayerNorm& layer) = 0;
  virtual void layer_norm_gradient(const LayerNormGradient& layer) = 0;
  virtual void gain_gradient(const GainGradient& layer) = 0;
  virtual void bias_gradient(const BiasGradient& layer) = 0;
  virtual void softmax(const Softmax& layer) = 0;
  virtual void softmax_gradient(const SoftmaxGradient& layer) = 0;
  virtual void gelu(const Gelu& layer) = 0;
  virtual void gelu_gradient(const GeluGradient& layer) = 0;
  virtual void embed(const Embedding& layer) = 0;
  virtual void embedding_gradient(const EmbeddingGradient& layer) = 0;
  virtual void split_heads(const Heads& layer) = 0;
  virtual void merge_heads(const Heads& layer) = 0;
  virtual void cross_entropy(const CrossEntropy& layer) = 0;
  virtual void sum_losses(const LossSum& sum) = 0;
  virtual void adam(const Adam& adam) = 0;
  virtual void initialise(const InitialWeights& initial) = 0;
};

}  // namespace scaleworth::gpu
