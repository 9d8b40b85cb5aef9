// SPDX-License-Identifier: Apache-2.0
/// One allocation on a GPU from which all buffers of a training are cut.
#pragma once

#include "cuda/runtime/memory.h"
#include "cuda/training/pass/memory.h"

#include <cstddef>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

class DeviceArena final : public TrainingMemory {
 public:
  /// `bytes` of the current device, zeroed on `stream`. `health` must outlive it. Throws
  /// OutOfMemory or gpu::Error.
  DeviceArena(const DeviceHealth& health, std::size_t bytes, cudaStream_t stream);

  /// Throws std::logic_error when there is not so much left: the count of bytes was wrong.
  void* allocate(std::size_t bytes) override;

 private:
  DeviceBuffer memory_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

}  // namespace scaleworth::gpu
