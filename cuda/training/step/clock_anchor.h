// SPDX-License-Identifier: Apache-2.0
/// When an event of a GPU happened on the host's monotonic clock, and how well that is known.
#pragma once

#include "cuda/runtime/unique.h"
#include "cuda/training/step/step_spans.h"

#include <chrono>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// An event with the host's time of it: `host_s` +- `error_s`, seconds of the monotonic clock.
struct ClockAnchor {
  Event event;
  double host_s = 0.0;
  double error_s = 0.0;
};

/// Records an event on the idle `stream` between two readings of the host's clock, and keeps the
/// tightest of 50 tries. The stream must have nothing queued. Throws gpu::Error.
ClockAnchor set_anchor(cudaStream_t stream);

/// `gpu_s`: from the first to the second anchor on the GPU's clock. Times of the GPU count from the
/// first; the line through both takes up the drift between.
ClockMap clock_between(double first_host_s, double second_host_s, double gpu_s);

}  // namespace scaleworth::gpu
