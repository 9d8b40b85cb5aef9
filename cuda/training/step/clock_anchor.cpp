// SPDX-License-Identifier: Apache-2.0
#include "cuda/training/step/clock_anchor.h"

#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <utility>

namespace scaleworth::gpu {
namespace {

constexpr int tries = 50;
constexpr double limit_s = 10.0;

double host_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns when it was first seen done.
double wait_until_done(cudaEvent_t event, double before) {
  while (true) {
    const cudaError_t status = cudaEventQuery(event);
    const double now = host_seconds();
    if (status == cudaSuccess) return now;
    if (status != cudaErrorNotReady) check(status);
    // "Not ready" is remembered like a failure, and the next launch would report it.
    static_cast<void>(cudaGetLastError());
    if (now - before > limit_s) {
      throw ProbeFailure(
          "an idle GPU did not record an event within 10 s: it hangs; see dmesg for Xid");
    }
  }
}

}  // namespace

ClockAnchor set_anchor(cudaStream_t stream) {
  ClockAnchor best;
  for (int i = 0; i < tries; ++i) {
    Event event = make_event();
    const double before = host_seconds();
    check(cudaEventRecord(event.get(), stream));
    const double after = wait_until_done(event.get(), before);
    const double error = (after - before) / 2.0;
    if (i == 0 || error < best.error_s) {
      best = {std::move(event), before + error, error};
    }
  }
  return best;
}

ClockMap clock_between(double first_host_s, double second_host_s, double gpu_s) {
  if (!(gpu_s > 0.0)) return {first_host_s, 1.0};
  return {first_host_s, (second_host_s - first_host_s) / gpu_s};
}

}  // namespace scaleworth::gpu
