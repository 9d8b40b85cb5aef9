// SPDX-License-Identifier: Apache-2.0
/// Owners of memory: of a GPU, and of the host where GPUs reach it.
#pragma once

#include "cuda/runtime/error.h"
#include "src/core/finding.h"

#include <cstddef>
#include <memory>
#include <optional>

namespace scaleworth::gpu {
/// Frees unless the GPU is lost: freeing waits for the GPU, for ever if it no longer answers.
template <cudaError_t (*release)(void*)>
struct FreeUnlessLost {
  const DeviceHealth* health = nullptr;
  void operator()(void* memory) const noexcept {
    if (health == nullptr || !health->lost()) static_cast<void>(release(memory));
  }
};
using DeviceBuffer = std::unique_ptr<void, FreeUnlessLost<&cudaFree>>;
using PinnedBuffer = std::unique_ptr<void, FreeUnlessLost<&cudaFreeHost>>;

/// Of what the runtime allocates (CUDA C++ Programming Guide, device memory accesses), bytes. Parts
/// of one allocation keep it: products choose slower kernels for operands that are aligned to less.
inline constexpr std::size_t device_alignment = 256;
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + device_alignment - 1) / device_alignment * device_alignment;
}

/// `bytes` of the current device's memory, uninitialised, aligned to `device_alignment`. `health`
/// must outlive it. Throws OutOfMemory or gpu::Error.
DeviceBuffer allocate_device(const DeviceHealth& health, std::size_t bytes);

/// `bytes` of page-locked host memory, zeroed, at the same address for the host and all GPUs.
/// Throws OutOfMemory or gpu::Error.
PinnedBuffer allocate_pinned(const DeviceHealth& health, std::size_t bytes);

/// Where pages are wanted. `required` false: elsewhere if the system refuses.
struct HostPlacement {
  std::optional<int> numa_node;  // absent: as the system likes
  bool required = false;
};

enum class HostRegionKind { mapped, mapped_and_locked, of_the_driver };

/// Frees memory by its kind.
struct FreeHostRegion {
  std::size_t bytes = 0;
  HostRegionKind kind = HostRegionKind::mapped;
  const DeviceHealth* health = nullptr;
  void operator()(void* memory) const noexcept;
};

/// Host memory on a chosen NUMA node, page-locked or not, as one end of transfers. All pages are
/// touched.
class HostRegion {
 public:
  /// `pinned`: at the same address for the host and all GPUs; the driver's own memory where it
  /// locks no pages of a program's own. Throws OutOfMemory, NothingToMeasure if a required
  /// placement is refused (containers often do), gpu::Error.
  HostRegion(const DeviceHealth& health,
             std::size_t bytes,
             bool pinned,
             const HostPlacement& placement);

  void* data() const { return memory_.get(); }
  /// What differs from what was wanted.
  const std::optional<Finding>& remark() const { return remark_; }

 private:
  void place(const HostPlacement& placement, std::size_t bytes);
  void lock(const HostPlacement& placement, std::size_t bytes);

  std::unique_ptr<void, FreeHostRegion> memory_;
  std::optional<Finding> remark_;
};
}  // namespace scaleworth::gpu
