// SPDX-License-Identifier: Apache-2.0
/// Owners of memory: of a GPU, and of the host where GPUs reach it.
#pragma once

#include "cuda/runtime/device_health.h"
#include "src/core/error.h"

#include <cstddef>
#include <memory>

namespace scaleworth::gpu {

/// Frees unless the GPU is lost: freeing waits for the GPU, for ever if it no longer answers.
struct FreeDeviceMemory {
  const DeviceHealth* health = nullptr;
  void operator()(void* memory) const noexcept;
};
struct FreePinnedMemory {
  const DeviceHealth* health = nullptr;
  void operator()(void* memory) const noexcept;
};
using DeviceBuffer = std::unique_ptr<void, FreeDeviceMemory>;
using PinnedBuffer = std::unique_ptr<void, FreePinnedMemory>;

/// `bytes` of the current device's memory, uninitialised, aligned to 256 bytes. `health` must
/// outlive it. Throws OutOfMemory or gpu::Error.
DeviceBuffer allocate_device(const DeviceHealth& health, std::size_t bytes);

/// `bytes` of page-locked host memory, zeroed, at the same address for the host and all GPUs.
/// Throws OutOfMemory or gpu::Error.
PinnedBuffer allocate_pinned(const DeviceHealth& health, std::size_t bytes);

}  // namespace scaleworth::gpu
