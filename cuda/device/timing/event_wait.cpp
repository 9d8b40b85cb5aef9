// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/timing/event_wait.h"

#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

namespace scaleworth::gpu {

void wait_for_event(DeviceHealth& health,
                    cudaEvent_t event,
                    std::chrono::duration<double> timeout,
                    const std::string& doing) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (true) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check(status);
    // "Not ready" is remembered like a failure, and the next launch would report it.
    static_cast<void>(cudaGetLastError());
    const auto waited = Clock::now() - start;
    if (waited > timeout) {
      health.lose(
          fmt::format("GPU {} did not finish within {:.0f} s while {}: it hangs or another program "
                      "keeps it busy; see dmesg for Xid and nvidia-smi for other programs, then "
                      "start again; later questions to it fail at once",
                      health.ordinal(),
                      timeout.count(),
                      doing));
      health.require();
    }
    // A small part of what was waited so far: neither a busy loop nor a gap between batches.
    const auto pause =
        std::clamp(std::chrono::duration_cast<std::chrono::microseconds>(waited / 500),
                   std::chrono::microseconds{20},
                   std::chrono::microseconds{2000});
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace scaleworth::gpu
