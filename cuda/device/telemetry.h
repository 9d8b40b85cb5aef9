// SPDX-License-Identifier: Apache-2.0
/// Clock, power, temperature during a question.
#pragma once

#include "cuda/libraries/nvml.h"
#include "probes/gpu/device.h"
#include "src/core/estimate.h"
#include "src/core/non_copyable.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace scaleworth::gpu {
/// One look at a GPU; absent what it refused.
struct TelemetryReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<std::int64_t> clock_event_reasons;  // NVML's bit mask
  /// Of the link at this moment; not in every look, for it changes seldom.
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
};

/// Readings of one GPU, from the driver or a script in tests. Used by one thread at a time, which
/// need not be the one that made it.
class TelemetrySource {
 public:
  virtual ~TelemetrySource() = default;
  virtual TelemetryReading read() noexcept = 0;
  /// Of the counter that only grows; absent without one.
  virtual std::optional<double> energy_j() noexcept = 0;
  /// Empty while more readings can be had; else why there are none, or none any more.
  virtual std::string ended() const = 0;
  /// Why some or all of a reading are absent, for people; empty when nothing is.
  virtual std::string refused() const = 0;

  /// A call that never returned still uses this source: no other may.
  void abandon() noexcept { abandoned_ = true; }
  bool abandoned() const noexcept { return abandoned_; }

 private:
  std::atomic<bool> abandoned_ = false;
};

/// Telemetry of one GPU from NVML. Never null: where NVML is missing or does not know the GPU, the
/// source has ended from the start and says why. Of a MIG slice: clocks, temperature and reasons of
/// the whole GPU; no power and no energy, which are not the slice's own.
std::shared_ptr<TelemetrySource> open_telemetry_source(
    const Outcome<std::shared_ptr<const Nvml>>& nvml, const DeviceDescription& device);

/// How power is read on this GPU, for the facts: "NVML field 186 (instantaneous)",
/// "nvmlDeviceGetPowerUsage (averaged over 1 s from Ampere on, except GA100)"; Skipped with the
/// reason.
Outcome<std::string> power_method(const Outcome<std::shared_ptr<const Nvml>>& nvml,
                                  const DeviceDescription& device);

struct WatchPace {
  // NVML renews power every 100 ms (H100, docs/measurements/h100), clocks as often. Less often
  // misses a change, more often takes the driver's time.
  std::chrono::milliseconds interval{15};
  /// How long `take` waits for a driver that does not return.
  std::chrono::milliseconds patience{2000};  // presumed: calls take milliseconds
};

/// Reads a GPU's telemetry on a thread of its own while a question is answered:
/// `TelemetryWatch watch(source); ...; Telemetry telemetry = watch.take();`
/// A source that has ended (no driver library) costs no thread and no time; its reason is in
/// `missing`. One watch of a source at a time. Nothing here throws.
class TelemetryWatch : NonCopyable {
 public:
  explicit TelemetryWatch(std::shared_ptr<TelemetrySource> source, WatchPace pace = {});
  ~TelemetryWatch();

  /// Ends the watch. The window lies between the two looks at the energy counter. When the
  /// driver does not return within the patience, the thread is left to itself, with what it needs.
  Telemetry take();

 private:
  struct Shared;
  void finish();

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};
}  // namespace scaleworth::gpu
