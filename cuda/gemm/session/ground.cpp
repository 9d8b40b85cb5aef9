// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/session/ground.h"

#include "cuda/libraries/open/library_error.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::gpu {

LtHandle make_lt_handle(const std::shared_ptr<const CublasLt>& library) {
  cublasLtHandle_t handle = nullptr;
  library->check(library->create(&handle));
  return LtHandle(handle, {library});
}

void on_ground(const GemmGround& ground,
               const std::string& doing,
               const std::function<void()>& action) {
  ground.health.require();
  try {
    check(cudaSetDevice(ground.health.ordinal()));
    action();
  } catch (const Error& error) {
    throw_failure(ground.health, doing, error.status(), error.what());
  } catch (const LibraryError& error) {
    // The library's own code hides what broke; CUDA remembers it.
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) throw_failure(ground.health, doing, status, error.what());
    throw ProbeFailure(
        fmt::format("GPU {}: {} failed: {}", ground.description.ordinal, doing, error.what()));
  }
}

}  // namespace scaleworth::gpu
