// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/device/device_arena.h"

#include "cuda/runtime/error.h"

#include <stdexcept>

namespace scaleworth::gpu {

DeviceArena::DeviceArena(const DeviceHealth& health, std::size_t bytes, cudaStream_t stream)
    : memory_(allocate_device(health, bytes)), bytes_(bytes) {
  check(cudaMemsetAsync(memory_.get(), 0, bytes, stream));
}

void* DeviceArena::allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  const std::size_t start = used_;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  if (used_ > bytes_) throw std::logic_error("the training needs more memory than was counted");
  return static_cast<std::byte*>(memory_.get()) + start;
}

}  // namespace scaleworth::gpu
