// SPDX-License-Identifier: Apache-2.0
/// The current device of a thread, changed for a scope.
#pragma once

#include "cuda/runtime/error.h"

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// Makes a device current until the end of the scope. Restoring a device makes a context on it: for
/// scopes inside of a question to another GPU, not for the question itself.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&previous_));
    if (previous_ != device) check(cudaSetDevice(device));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { static_cast<void>(cudaSetDevice(previous_)); }

 private:
  int previous_ = 0;
};

}  // namespace scaleworth::gpu
