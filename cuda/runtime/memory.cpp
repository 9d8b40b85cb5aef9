// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/memory.h"

#include "src/core/error.h"
#include "src/core/units.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scaleworth::gpu {
namespace {
double as_mebibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / mebibyte;
}

constexpr int most_nodes = 1024;  // of Linux (CONFIG_NODES_SHIFT is 10 at most)
constexpr int mask_bits = sizeof(unsigned long) * CHAR_BIT;

/// libnuma does no more than this; without it there is one dependency less. 0 or errno.
int bind_to_node(void* memory, std::size_t bytes, int node) {
  if (node < 0 || node >= most_nodes) return EINVAL;
  std::array<unsigned long, most_nodes / mask_bits> mask{};
  const auto bit = static_cast<unsigned>(node);
  mask[bit / mask_bits] = 1UL << (bit % mask_bits);
  // The kernel reads one bit less than the argument says.
  const long status = syscall(
      SYS_mbind, memory, bytes, MPOL_BIND, mask.data(), static_cast<unsigned long>(most_nodes), 0U);
  return status == 0 ? 0 : errno;
}
}  // namespace

DeviceBuffer allocate_device(const DeviceHealth& health, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&available, &total));
    throw OutOfMemory(
        "GPU {}: out of memory: {:.0f} MiB wanted, {:.0f} of {:.0f} MiB free; end other "
        "programs on it (nvidia-smi lists them) or choose a smaller size",
        health.ordinal(),
        as_mebibytes(bytes),
        as_mebibytes(available),
        as_mebibytes(total));
  }
  check(status);
  return DeviceBuffer(memory, {&health});
}

PinnedBuffer allocate_pinned(const DeviceHealth& health, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status =
      cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory(
        "GPU {}: the system page-locks no {:.0f} MiB of host memory; free host memory, "
        "or raise the limit of this container",
        health.ordinal(),
        as_mebibytes(bytes));
  }
  check(status);
  PinnedBuffer buffer(memory, {&health});
  std::memset(memory, 0, bytes);
  return buffer;
}

void FreeHostRegion::operator()(void* memory) const noexcept {
  // Unlocking waits for the GPU, for ever if it no longer answers.
  if (kind != HostRegionKind::mapped && health != nullptr && health->lost()) return;
  if (kind == HostRegionKind::of_the_driver) {
    static_cast<void>(cudaFreeHost(memory));
    return;
  }
  if (kind == HostRegionKind::mapped_and_locked) static_cast<void>(cudaHostUnregister(memory));
  munmap(memory, bytes);
}

HostRegion::HostRegion(const DeviceHealth& health,
                       std::size_t bytes,
                       bool pinned,
                       const HostPlacement& placement) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw OutOfMemory("the system gives no {} bytes of host memory: {}",
                      bytes,
                      std::generic_category().message(errno));
  }
  memory_ = {memory, FreeHostRegion{bytes, HostRegionKind::mapped, &health}};
  place(placement, bytes);
  // Registered in pages of 2 MiB the GPU's requests need fewer translations (IOMMU, ATS). Advice:
  // where it is refused, small pages do.
  madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  if (pinned) lock(placement, bytes);
}

void HostRegion::lock(const HostPlacement& placement, std::size_t bytes) {
  const DeviceHealth& health = *memory_.get_deleter().health;
  int same_address = 0;
  check(cudaDeviceGetAttribute(
      &same_address, cudaDevAttrCanUseHostPointerForRegisteredMem, health.ordinal()));
  const cudaError_t status =
      same_address == 0
          ? cudaErrorNotSupported
          : cudaHostRegister(
                memory_.get(), bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaSuccess) {
    memory_.get_deleter().kind = HostRegionKind::mapped_and_locked;
    return;
  }
  cudaGetLastError();
  if (status == cudaErrorMemoryAllocation) {
    throw OutOfMemory(
        "GPU {}: the system page-locks no {} bytes of host memory; free host memory, or "
        "raise the limit of this container",
        health.ordinal(),
        bytes);
  }
  if (breaks_context(status)) check(status);
  const char* const error = cudaGetErrorString(status);
  if (placement.required) throw NothingToMeasure(FindingId::memory_not_locked, error);
  memory_.reset();
  memory_ = {allocate_pinned(health, bytes).release(),
             FreeHostRegion{bytes, HostRegionKind::of_the_driver, &health}};
  remark_ = Finding(FindingId::memory_where_driver_put_it, error);
}

void HostRegion::place(const HostPlacement& placement, std::size_t bytes) {
  if (!placement.numa_node) return;
  const int failure = bind_to_node(memory_.get(), bytes, *placement.numa_node);
  if (failure == 0) return;
  const Finding not_placed(
      placement.required ? FindingId::memory_not_placed : FindingId::memory_where_system_put_it,
      *placement.numa_node,
      std::generic_category().message(failure));
  if (placement.required) throw NothingToMeasure(not_placed);
  remark_ = not_placed;
}
}  // namespace scaleworth::gpu
