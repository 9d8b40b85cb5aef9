// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/timing/stream_hold.h"

#include "cuda/runtime/error.h"

#include <atomic>

namespace scaleworth::gpu {

StreamHold::StreamHold(const DeviceHealth& health)
    : memory_(allocate_pinned(health, sizeof(StreamBlockWords))) {}

void StreamHold::hold(cudaStream_t stream) {
  // Below the shortest watchdog of a GPU that also drives a display (2 s).
  constexpr std::uint64_t timeout_ns = 1'000'000'000;
  ++number_;
  check(launch_stream_block(&words(), number_, timeout_ns, stream));
}

void StreamHold::release() noexcept {
  std::atomic_ref(words().released).store(number_, std::memory_order_release);
}

bool StreamHold::gave_up() const {
  return std::atomic_ref(words().gave_up).load(std::memory_order_acquire) == number_;
}

}  // namespace scaleworth::gpu
