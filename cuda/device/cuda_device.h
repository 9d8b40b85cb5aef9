// SPDX-License-Identifier: Apache-2.0
/// One GPU behind probes/gpu/device.h; opening GPUs, or why not.
#pragma once

#include "cuda/device/batch_timer.h"
#include "cuda/device/telemetry.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "probes/gpu/batching.h"
#include "probes/gpu/device.h"
#include "probes/gpu/driver_signs.h"
#include "src/core/estimate.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// What every question to a GPU works with: its description, streams and timer. Made with its GPU
/// current. `description` and `health` must outlive it.
class Workbench {
 public:
  Workbench(const DeviceDescription& description,
            DeviceHealth& health,
            std::shared_ptr<TelemetrySource> telemetry);

  const DeviceDescription& description() const { return description_; }
  DeviceHealth& health() { return health_; }
  cudaStream_t stream() const { return stream_.get(); }
  /// For work at the same time as `stream`.
  cudaStream_t second_stream() const { return second_.get(); }
  BatchTimer& timer() { return timer_; }

  /// Batches of 20 ms. A GPU that was idle first gets its clocks back up: 0.3 s of the work itself.
  BatchOptions batch_options() const;
  /// Samples of `work`, `operations` each, and telemetry of the same time: of the sampling, not of
  /// what prepared it.
  DeviceMeasured time(const BatchWork& work,
                      const Target& target,
                      int operations = 1,
                      int most_repetitions = BatchOptions{}.maximum_repetitions) {
    BatchOptions options = batch_options();
    options.operations = operations;
    options.maximum_repetitions = most_repetitions;
    return watched([&] { return timer_.time(work, target, options); });
  }
  /// The same for work that is not timed by the timer.
  DeviceMeasured watched(const std::function<DeviceMeasured()>& sampling) {
    TelemetryWatch watch(telemetry_);
    DeviceMeasured measured = sampling();
    measured.telemetry = watch.take();
    return measured;
  }

  /// From now on the GPU is idle.
  void finished() { finished_ = std::chrono::steady_clock::now(); }

  DeviceBuffer allocate(std::size_t bytes) { return allocate_device(health_, bytes); }

  /// Work that repeats itself inside of one launch: the number of passes for which a launch lasts
  /// half a millisecond at the clock of a busy GPU, so that the launch itself is below 1 % of it.
  /// `most` limits it.
  int passes_for(const std::function<BatchWork(int passes)>& work, int most);

 private:
  const DeviceDescription& description_;
  DeviceHealth& health_;
  std::shared_ptr<TelemetrySource> telemetry_;
  Stream stream_ = make_stream();
  Stream second_ = make_stream();
  BatchTimer timer_;
  std::chrono::steady_clock::time_point finished_{};
};

/// What it means that counting the GPUs failed with `status`. `driver` is the CUDA version that the
/// driver supports as cudaDriverGetVersion reports it, 0 without a driver; `runtime` the one this
/// program was built with. Skipped where the node shows neither GPU nor driver, Failed where it
/// does and none can be used; both name the remedy.
std::variant<Skipped, Failed> explain_no_gpus(cudaError_t status,
                                              int driver,
                                              int runtime,
                                              const DriverSigns& signs);

/// Why nothing can be measured while CUDA_LAUNCH_BLOCKING is set: then each launch waits for its
/// kernel, also for one that waits for what is launched after it (a held stream, a collective of
/// which another rank of this process has not begun its part). Absent where it is not set.
std::optional<std::string> launches_block();

/// How many GPUs this process sees, at least one; otherwise as explain_no_gpus.
Outcome<int> count_gpus();
}  // namespace scaleworth::gpu
