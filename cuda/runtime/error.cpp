// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/error.h"

#include <fmt/format.h>

namespace scaleworth::gpu {

Error::Error(cudaError_t status, std::source_location where)
    : std::runtime_error(fmt::format("{} ({}, code {}) at {}:{}",
                                     cudaGetErrorString(status),
                                     cudaGetErrorName(status),
                                     static_cast<int>(status),
                                     where.file_name(),
                                     where.line())),
      status_(status) {}

void check(cudaError_t status, std::source_location where) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(status, where);
}

}  // namespace scaleworth::gpu
