// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/workbench.h"

#include "cuda/telemetry/telemetry_watch.h"

#include <chrono>
#include <utility>

namespace scaleworth::gpu {

Workbench::Workbench(const probes::DeviceDescription& description,
                     DeviceHealth& health,
                     std::shared_ptr<TelemetrySource> telemetry)
    : description_(description),
      health_(health),
      telemetry_(std::move(telemetry)),
      timer_(health, stream_.get()) {}

probes::DeviceMeasured Workbench::time(const BatchWork& work,
                                       const probes::Target& target,
                                       const probes::BatchOptions& options) {
  return watched([&] { return timer_.time(work, target, options); });
}

probes::DeviceMeasured Workbench::watched(const std::function<probes::DeviceMeasured()>& sampling) {
  TelemetryWatch watch(telemetry_);
  probes::DeviceMeasured measured = sampling();
  measured.telemetry = watch.take();
  return measured;
}

probes::BatchOptions Workbench::batch_options() const {
  constexpr std::chrono::milliseconds idle_from{500};
  constexpr Seconds after_idle{0.3};
  probes::BatchOptions options;
  if (std::chrono::steady_clock::now() - finished_ > idle_from) options.warm_up = after_idle;
  return options;
}

int Workbench::passes_for(const std::function<BatchWork(int passes)>& work, int most) {
  timer_.run_once(work(1));
  probes::BatchOptions options;
  options.batch = Seconds{0.5e-3};
  options.maximum_repetitions = most;
  probes::BatchFunction launch([&](int passes) {
    return probes::BatchTiming{Seconds{timer_.time_once(work(passes), 1)}, {}, false};
  });
  return probes::calibrate_repetitions(launch, options);
}

}  // namespace scaleworth::gpu
