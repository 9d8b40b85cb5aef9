// SPDX-License-Identifier: Apache-2.0
/// The products of a training step through cuBLASLt: one plan per shape, made when it first
/// appears.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "cuda/runtime/memory.h"
#include "cuda/training/pass/gemm_call.h"

#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

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

}  // namespace scaleworth::gpu
