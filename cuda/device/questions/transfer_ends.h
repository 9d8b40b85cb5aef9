// SPDX-License-Identifier: Apache-2.0
/// The memory at one end of a transfer: a GPU's or the host's.
#pragma once

#include "cuda/device/workbench.h"
#include "cuda/runtime/host_region.h"
#include "cuda/runtime/memory.h"
#include "probes/gpu/work.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::gpu {

/// Lets kernels and copies of `from` reach the memory of `to` from now on. False where the hardware
/// or its isolation forbids it. Throws gpu::Error.
bool enable_peer_access(int from, int to);

/// `bytes` (a multiple of 16) of memory.
class TransferEnd {
 public:
  /// Host memory without a wanted NUMA node lies on the asked GPU's. Throws OutOfMemory,
  /// NothingToMeasure, gpu::Error.
  TransferEnd(Workbench& bench, const probes::Endpoint& endpoint, std::size_t bytes);

  void* data() const;
  /// The GPU whose memory it is; absent for host memory.
  std::optional<int> device() const { return endpoint_.device; }
  const std::string& remark() const { return remark_; }

  /// fp32 numbers uniform_value(i modulo 2^20, seed).
  void fill(std::uint32_t seed);
  /// All bits set, so that what does not arrive shows.
  void poison();
  /// Throws ProbeFailure unless samples hold what `fill(seed)` writes.
  void require(std::uint32_t seed, const std::string& doing);

 private:
  /// Copies `length` bytes of page-locked memory over all of it, again and again; waits.
  void spread(const void* pattern, std::size_t length);

  Workbench& bench_;
  probes::Endpoint endpoint_;
  std::size_t bytes_;
  DeviceBuffer on_device_;
  std::optional<HostRegion> on_host_;
  std::string remark_;
};

}  // namespace scaleworth::gpu
