// SPDX-License-Identifier: Apache-2.0
/// Matrix products by cuBLASLt, as probes/gpu/device.h asks for them.
#pragma once

#include "cuda/device/cuda_device.h"
#include "cuda/libraries/cublas_lt.h"
#include "probes/gpu/device.h"
#include "src/core/estimate.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// What the products of one GPU share; outlives the sessions. Used by one thread at a time.
struct GemmContext {
  Workbench& bench;
  std::shared_ptr<const CublasLt> library;
  cublasLtHandle_t handle;  // made with the GPU current
};

/// Allocates and fills the operands. What `context` refers to must outlive the session. Throws
/// NothingToMeasure for a product that the format cannot have, ProbeFailure naming the sizes when
/// memory does not suffice.
std::unique_ptr<GemmSession> open_gemm_session(const GemmContext& context,
                                               const GemmProblem& problem);

/// cuBLASLt as the GPUs of a process share it, opened when the first product needs it. Used by any
/// thread.
class GemmLibrary {
 public:
  using Table = std::shared_ptr<const CublasLt>;

  /// `path` that the user gave; empty: search.
  explicit GemmLibrary(std::string path) : path_(std::move(path)) {}
  Outcome<Table> table();
  /// "cuBLASLt 13.1.0 (/usr/lib/...)", or why there is none.
  Outcome<std::string> description();

 private:
  std::string path_;
  std::once_flag opened_;
  std::optional<Outcome<Table>> table_;
};
}  // namespace scaleworth::gpu
