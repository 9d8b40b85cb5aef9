// SPDX-License-Identifier: Apache-2.0
/// Products through cuBLASLt; operations on a stream.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "cuda/runtime/memory.h"
#include "cuda/training/transformer.h"

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// The products of a training step through cuBLASLt: one plan per shape, made when it first
// appears.

/// On one device, for one stream at a time: products share a workspace. bf16 operands and results,
/// fp32 sums; the algorithm is the library's first choice, as frameworks take it.
class GemmPlans {
 public:
  /// On the current device; `health` must outlive it. Throws OutOfMemory, LibraryError, gpu::Error.
  GemmPlans(std::shared_ptr<const CublasLt> library, const DeviceHealth& health);
  ~GemmPlans();
  GemmPlans(const GemmPlans&) = delete;
  GemmPlans& operator=(const GemmPlans&) = delete;

  /// Queues the product. Throws ProbeFailure when the library has no algorithm for it,
  /// LibraryError.
  void run(const ColumnMajorGemm& gemm, cudaStream_t stream);

 private:
  struct Plan;
  Plan& plan_of(const ColumnMajorGemm& gemm);
  std::unique_ptr<Plan> make_plan(const ColumnMajorGemm& gemm);

  struct DestroyHandle {
    const CublasLt* library;
    void operator()(cublasLtHandle_t handle) const noexcept;
  };

  std::shared_ptr<const CublasLt> library_;
  std::unique_ptr<std::remove_pointer_t<cublasLtHandle_t>, DestroyHandle> handle_;
  std::size_t workspace_bytes_;
  DeviceBuffer workspace_;
  std::vector<std::unique_ptr<Plan>> plans_;
};

// The operations of the training step on a GPU: each is queued on one stream.

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
