// SPDX-License-Identifier: Apache-2.0
/// Products through cuBLASLt; operations on a stream.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/memory.h"
#include "cuda/training/transformer.h"
#include "src/core/non_copyable.h"

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// The products of a training step: one plan per shape, made when it first appears. On one device,
/// for one stream at a time: products share a workspace. bf16 operands and results, fp32 sums; the
/// algorithm is the library's first choice, as frameworks take it.
class GemmPlans : NonCopyable {
 public:
  /// On the current device; `health` must outlive it. Throws OutOfMemory, LibraryError, gpu::Error.
  GemmPlans(std::shared_ptr<const CublasLt> library, const DeviceHealth& health);
  ~GemmPlans();

  /// Queues the product. Throws ProbeFailure when the library has no algorithm for it,
  /// LibraryError.
  void run(const GemmCall& call, cudaStream_t stream);

 private:
  struct Plan;
  Plan& plan_of(const GemmCall& call);

  std::shared_ptr<const CublasLt> library_;
  LtHandle handle_;
  DeviceBuffer workspace_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

/// The operations of the training step on a GPU, queued on one stream. Throws gpu::Error or what
/// GemmPlans::run throws. `plans` and the stream outlive it.
class CudaOperations final : public TrainingOperations {
 public:
  CudaOperations(GemmPlans& plans, cudaStream_t stream) : plans_(plans), stream_(stream) {}

  void multiply(const GemmCall& call) override { plans_.run(call, stream_); }
  void layer_norm(const LayerNorm& layer) override { check(launch_layer_norm(layer, stream_)); }
  void layer_norm_gradient(const LayerNormGradient& layer) override {
    check(launch_layer_norm_gradient(layer, stream_));
  }
  void gain_gradient(const GainGradient& layer) override {
    check(launch_gain_gradient(layer, stream_));
  }
  void bias_gradient(const BiasGradient& layer) override {
    check(launch_bias_gradient(layer, stream_));
  }
  void softmax(const Softmax& layer) override { check(launch_softmax(layer, stream_)); }
  void softmax_gradient(const SoftmaxGradient& layer) override {
    check(launch_softmax_gradient(layer, stream_));
  }
  void gelu(const Gelu& layer) override { check(launch_gelu(layer, stream_)); }
  void gelu_gradient(const GeluGradient& layer) override {
    check(launch_gelu_gradient(layer, stream_));
  }
  void embed(const Embedding& layer) override { check(launch_embedding(layer, stream_)); }
  void embedding_gradient(const EmbeddingGradient& layer) override {
    check(launch_embedding_gradient(layer, stream_));
  }
  void split_heads(const Heads& layer) override { check(launch_split_heads(layer, stream_)); }
  void merge_heads(const Heads& layer) override { check(launch_merge_heads(layer, stream_)); }
  void cross_entropy(const CrossEntropy& layer) override {
    check(launch_cross_entropy(layer, stream_));
  }
  void sum_losses(const LossSum& sum) override { check(launch_loss_sum(sum, stream_)); }
  void adam(const Adam& adam) override { check(launch_adam(adam, stream_)); }
  void initialise(const InitialWeights& initial) override {
    check(launch_initial_weights(initial, stream_));
  }

 private:
  GemmPlans& plans_;
  cudaStream_t stream_;
};
}  // namespace scaleworth::gpu
