// SPDX-License-Identifier: Apache-2.0
/// CUDA runtime failures as exceptions that name the call site.
#pragma once

#include <source_location>
#include <stdexcept>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// A CUDA call failed; the message names the error, its code and the line of the caller.
class Error : public std::runtime_error {
 public:
  Error(cudaError_t status, std::source_location where);
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

/// Throws gpu::Error naming the call site unless `status` is success; clears the runtime's sticky
/// error.
void check(cudaError_t status, std::source_location where = std::source_location::current());

}  // namespace scaleworth::gpu
