// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/transfer_ends.h"

#include "cuda/device/questions/samples.h"
#include "cuda/kernels/roofline/fill.h"
#include "cuda/runtime/device_guard.h"
#include "cuda/runtime/error.h"

#include <algorithm>
#include <cstring>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
namespace {

DeviceBuffer allocate_on(const DeviceHealth& health, int device, std::size_t bytes) {
  const DeviceGuard guard(device);
  return allocate_device(health, bytes);
}

HostPlacement placement_of(const Workbench& bench, const probes::Endpoint& endpoint) {
  if (endpoint.numa_node) return {endpoint.numa_node, true};
  return {bench.description().numa_node, false};
}

/// The content of an end repeats after so many numbers: hashing a whole gibibyte takes seconds.
constexpr std::uint64_t pattern_floats = 1U << 20U;

}  // namespace

bool enable_peer_access(int from, int to) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) return false;
  const DeviceGuard guard(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();
    return true;
  }
  check(status);
  return true;
}

TransferEnd::TransferEnd(Workbench& bench, const probes::Endpoint& endpoint, std::size_t bytes)
    : bench_(bench), endpoint_(endpoint), bytes_(bytes) {
  if (endpoint.device) {
    on_device_ = allocate_on(bench.health(), *endpoint.device, bytes);
  } else {
    on_host_.emplace(bench.health(), bytes, endpoint.pinned, placement_of(bench, endpoint));
    remark_ = on_host_->remark();
  }
}

void* TransferEnd::data() const {
  return on_host_ ? on_host_->data() : on_device_.get();
}

void TransferEnd::fill(std::uint32_t seed) {
  const std::size_t length = std::min<std::size_t>(pattern_floats * sizeof(float), bytes_);
  const PinnedBuffer pattern = allocate_pinned(bench_.health(), length);
  auto* numbers = static_cast<float*>(pattern.get());
  for (std::size_t i = 0; i < length / sizeof(float); ++i) numbers[i] = uniform_value(i, seed);
  spread(pattern.get(), length);
}

void TransferEnd::poison() {
  const std::size_t length = std::min<std::size_t>(pattern_floats * sizeof(float), bytes_);
  const PinnedBuffer ones = allocate_pinned(bench_.health(), length);
  std::memset(ones.get(), 0xff, length);
  spread(ones.get(), length);
}

void TransferEnd::spread(const void* pattern, std::size_t length) {
  auto* to = static_cast<std::byte*>(data());
  for (std::size_t begin = 0; begin < bytes_; begin += length) {
    const std::size_t count = std::min(length, bytes_ - begin);
    if (on_host_) {
      std::memcpy(to + begin, pattern, count);
    } else {
      check(cudaMemcpyAsync(to + begin, pattern, count, cudaMemcpyDefault, bench_.stream()));
    }
  }
  bench_.timer().wait("preparing a transfer");
}

void TransferEnd::require(std::uint32_t seed, const std::string& doing) {
  require_floats(
      bench_,
      static_cast<const float*>(data()),
      bytes_ / sizeof(float),
      [seed](std::uint64_t index) { return uniform_value(index % pattern_floats, seed); },
      doing);
}

}  // namespace scaleworth::gpu
