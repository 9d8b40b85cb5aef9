// SPDX-License-Identifier: Apache-2.0
/// Matrix products by cuBLASLt, as probes/gpu/device.h asks for them.
#pragma once

#include "cuda/device/batch_timer.h"
#include "cuda/device/telemetry.h"
#include "cuda/libraries/cublas_lt.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/device.h"
#include "src/core/estimate.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// What the products of one GPU share.

/// Gives a handle or descriptor of cuBLASLt back through the table that made it.
template <auto member>
struct DestroyThrough {
  std::shared_ptr<const CublasLt> library;
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(((*library).*member)(handle));
  }
};
template <class Handle, auto member>
using LtUnique = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyThrough<member>>;

using LtHandle = LtUnique<cublasLtHandle_t, &CublasLt::destroy>;
using LtDescriptor = LtUnique<cublasLtMatmulDesc_t, &CublasLt::matmul_descriptor_destroy>;
using LtLayout = LtUnique<cublasLtMatrixLayout_t, &CublasLt::layout_destroy>;
using LtPreference = LtUnique<cublasLtMatmulPreference_t, &CublasLt::preference_destroy>;

/// On the current device. Throws LibraryError.
LtHandle make_lt_handle(const std::shared_ptr<const CublasLt>& library);

/// All of it outlives the sessions that use it. Asked by one thread at a time.
struct GemmContext {
  const probes::DeviceDescription& description;
  DeviceHealth& health;
  BatchTimer& timer;
  cudaStream_t stream;  // the timer's
  std::shared_ptr<const CublasLt> library;
  cublasLtHandle_t handle;  // made with the GPU current
  std::shared_ptr<TelemetrySource> telemetry;
};

/// Runs `action` with the GPU current; failures of CUDA and of the library become ProbeFailure with
/// the GPU, `doing` and a remedy. The GPU counts as lost when its context broke.
void in_context(const GemmContext& ground,
                const std::string& doing,
                const std::function<void()>& action);

/// Allocates and fills the operands. What `ground` refers to must outlive the session. Throws
/// NothingToMeasure for a product that the format cannot have, ProbeFailure naming the sizes when
/// memory does not suffice.
std::unique_ptr<probes::GemmSession> open_gemm_session(const GemmContext& ground,
                                                       const probes::GemmProblem& problem);

// cuBLASLt as the GPUs of a process share it, opened when the first product is asked for.

/// May be asked by several threads.
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
