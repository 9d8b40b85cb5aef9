// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/host_region.h"

#include "cuda/runtime/error.h"
#include "cuda/runtime/memory.h"
#include "src/core/error.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scaleworth::gpu {
namespace {

constexpr int most_nodes = 1024;
constexpr int mask_bits = sizeof(unsigned long) * CHAR_BIT;

/// libnuma does no more than this; without it there is one dependency less. 0 or errno.
int bind_to_node(void* memory, std::size_t bytes, int node) {
  if (node < 0 || node >= most_nodes) return EINVAL;
  std::array<unsigned long, most_nodes / mask_bits> mask{};
  const auto bit = static_cast<unsigned>(node);
  mask[bit / mask_bits] = 1UL << (bit % mask_bits);
  // The kernel reads one bit less than it is told.
  const long status = syscall(
      SYS_mbind, memory, bytes, MPOL_BIND, mask.data(), static_cast<unsigned long>(most_nodes), 0U);
  return status == 0 ? 0 : errno;
}

}  // namespace

void UnmapHostRegion::operator()(void* memory) const noexcept {
  if (registered && health != nullptr) {
    if (health->lost()) return;
    static_cast<void>(cudaHostUnregister(memory));
  }
  munmap(memory, bytes);
}

HostRegion::HostRegion(const DeviceHealth& health,
                       std::size_t bytes,
                       bool pinned,
                       const HostPlacement& placement) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw OutOfMemory(fmt::format("the system gives no {} bytes of host memory: {}",
                                  bytes,
                                  std::generic_category().message(errno)));
  }
  memory_ = {memory, UnmapHostRegion{bytes, false, &health}};
  place(placement, bytes);
  std::memset(memory, 0, bytes);
  if (!pinned) return;
  const cudaError_t status =
      cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemory(fmt::format(
        "GPU {}: the system page-locks no {} bytes of host memory; free host memory, or "
        "raise the limit of this container",
        health.ordinal(),
        bytes));
  }
  check(status);
  memory_.get_deleter().registered = true;
}

void HostRegion::place(const HostPlacement& placement, std::size_t bytes) {
  if (!placement.numa_node) return;
  const int failure = bind_to_node(memory_.get(), bytes, *placement.numa_node);
  if (failure == 0) return;
  const std::string reason = fmt::format("host memory could not be placed on NUMA node {}: {}",
                                         *placement.numa_node,
                                         std::generic_category().message(failure));
  if (placement.required) {
    throw NothingToMeasure(reason + "; containers often forbid it (docker: --cap-add SYS_NICE)");
  }
  remark_ = reason + "; it lies where the system put it";
}

}  // namespace scaleworth::gpu
