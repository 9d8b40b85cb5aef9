// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/memory.h"

#include "cuda/runtime/error.h"

#include <cstring>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

double as_mebibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

}  // namespace

void FreeDeviceMemory::operator()(void* memory) const noexcept {
  if (health == nullptr || !health->lost()) static_cast<void>(cudaFree(memory));
}

void FreePinnedMemory::operator()(void* memory) const noexcept {
  if (health == nullptr || !health->lost()) static_cast<void>(cudaFreeHost(memory));
}

DeviceBuffer allocate_device(const DeviceHealth& health, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&available, &total));
    throw OutOfMemory(fmt::format(
        "GPU {}: out of memory: {:.0f} MiB wanted, {:.0f} of {:.0f} MiB free; end other "
        "programs on it (nvidia-smi lists them) or choose a smaller size",
        health.ordinal(),
        as_mebibytes(bytes),
        as_mebibytes(available),
        as_mebibytes(total)));
  }
  check(status);
  return DeviceBuffer(memory, FreeDeviceMemory{&health});
}

PinnedBuffer allocate_pinned(const DeviceHealth& health, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory(
        fmt::format("GPU {}: the system page-locks no {:.0f} MiB of host memory; free host memory, "
                    "or raise the limit of this container",
                    health.ordinal(),
                    as_mebibytes(bytes)));
  }
  check(status);
  PinnedBuffer buffer(memory, FreePinnedMemory{&health});
  std::memset(memory, 0, bytes);
  return buffer;
}

}  // namespace scaleworth::gpu
