// SPDX-License-Identifier: Apache-2.0
/// CUDA runtime failures as exceptions that name the call site.
#pragma once

#include "src/core/error.h"

#include <source_location>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

namespace scaleworth::probes {}
namespace scaleworth::gpu {
using namespace probes;  // whose questions this layer answers

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

/// Whether a GPU still answers: once it is lost, every later question to it fails at once, and
/// nothing waits for it any more. Asked by one thread at a time.
class DeviceHealth {
 public:
  explicit DeviceHealth(int ordinal) : ordinal_(ordinal) {}
  int ordinal() const { return ordinal_; }
  bool lost() const { return !reason_.empty(); }
  const std::string& reason() const { return reason_; }  // empty unless lost

  /// Remembers the first reason.
  void lose(const std::string& reason) {
    if (!lost()) reason_ = reason;
  }
  void require() const {
    if (lost()) throw GpuLost(reason_);
  }

 private:
  int ordinal_;
  std::string reason_;
};

/// Whether this error leaves the context of the GPU unusable for the rest of the process (CUDA
/// runtime API reference, cudaError: "this leaves the process in an inconsistent state").
bool breaks_context(cudaError_t status);

/// Turns a failed call into a message: what broke, where, and what to do. Marks the GPU
/// as lost when its context is, and throws GpuLost then, OutOfMemory for memory, ProbeFailure for
/// the rest. `doing` says what was asked ("copying 1 GiB to the host").
[[noreturn]] void throw_failure(DeviceHealth& health,
                                const std::string& doing,
                                cudaError_t status,
                                const std::string& what);
}  // namespace scaleworth::gpu
