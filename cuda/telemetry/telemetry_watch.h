// SPDX-License-Identifier: Apache-2.0
/// Reads a GPU's telemetry on a thread of its own while a question is answered.
#pragma once

#include "cuda/telemetry/telemetry_source.h"
#include "probes/gpu/telemetry.h"

#include <chrono>
#include <memory>
#include <thread>

namespace scaleworth::gpu {

struct WatchPace {
  std::chrono::milliseconds interval{15};
  /// How long `take` waits for a driver that does not return.
  std::chrono::milliseconds patience{2000};
};

/// `TelemetryWatch watch(source); ...; Telemetry telemetry = watch.take();`
/// A source that has ended (no driver library) costs no thread and no time; its reason is in
/// `missing`. One watch of a source at a time. Nothing here throws.
class TelemetryWatch {
 public:
  explicit TelemetryWatch(std::shared_ptr<TelemetrySource> source, WatchPace pace = {});
  TelemetryWatch(const TelemetryWatch&) = delete;
  TelemetryWatch& operator=(const TelemetryWatch&) = delete;
  ~TelemetryWatch();

  /// Ends the watch. The window lies between the two looks at the energy counter. When the
  /// driver does not return within the patience, the thread is left to itself, with what it needs.
  probes::Telemetry take();

 private:
  struct Shared;
  void finish();

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace scaleworth::gpu
