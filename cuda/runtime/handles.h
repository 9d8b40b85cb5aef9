// SPDX-License-Identifier: Apache-2.0
/// Owners of CUDA handles, device guard.
#pragma once

#include "cuda/runtime/error.h"
#include "src/core/non_copyable.h"

#include <memory>
#include <type_traits>

namespace scaleworth::gpu {
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

/// Whether `event` has happened. Throws gpu::Error naming the call site if the GPU reports a
/// failure.
inline bool has_happened(cudaEvent_t event,
                         std::source_location where = std::source_location::current()) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaSuccess) return true;
  if (status != cudaErrorNotReady) check(status, where);
  // "Not ready" is remembered like a failure, and the next launch would report it.
  static_cast<void>(cudaGetLastError());
  return false;
}

/// Between two events that have happened.
inline double elapsed_s(const Event& begin,
                        const Event& end,
                        std::source_location where = std::source_location::current()) {
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), where);
  return 1e-3 * static_cast<double>(milliseconds);
}

/// Records what is queued on `stream` into a graph. An exception before `finish` ends the capture:
/// a stream left in capture refuses all else.
class Capture : NonCopyable {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {
    if (!open_) return;
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream_, &graph));
    static_cast<void>(cudaGetLastError());
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  }
  Graph finish() {
    open_ = false;
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_, &graph));
    return Graph(graph);
  }

 private:
  cudaStream_t stream_;
  bool open_ = true;
};

inline GraphExecutable instantiate(const Graph& graph) {
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph.get(), 0));
  return GraphExecutable(executable);
}

/// Makes a device current until the end of the scope. Restoring a device makes a context on it: for
/// scopes inside of a question to another GPU, not for the question itself.
class DeviceGuard : NonCopyable {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&previous_));
    if (previous_ != device) check(cudaSetDevice(device));
  }
  ~DeviceGuard() { static_cast<void>(cudaSetDevice(previous_)); }

 private:
  int previous_ = 0;
};
}  // namespace scaleworth::gpu
