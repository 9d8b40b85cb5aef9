// SPDX-License-Identifier: Apache-2.0
/// Owners of CUDA handles, device guard.
#pragma once

#include "cuda/runtime/error.h"

#include <memory>
#include <type_traits>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
// Owners of CUDA handles: one handle each, given back by the call that its type names.

/// Gives a handle back; a failure then (a lost GPU) leaves nothing to do.
template <auto destroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(destroy(handle));
  }
};

template <class Handle, auto destroy>
using Unique = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

using Stream = Unique<cudaStream_t, &cudaStreamDestroy>;
using Event = Unique<cudaEvent_t, &cudaEventDestroy>;
using Graph = Unique<cudaGraph_t, &cudaGraphDestroy>;
using GraphExecutable = Unique<cudaGraphExec_t, &cudaGraphExecDestroy>;

/// On the current device; does not wait for the default stream.
inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

/// On the current device; `flags` as of cudaEventCreateWithFlags.
inline Event make_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags));
  return Event(event);
}

// The current device of a thread, changed for a scope.

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
