// SPDX-License-Identifier: Apache-2.0
/// Where the readings of one GPU come from: the driver, or a script in tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace scaleworth::gpu {

/// One look at a GPU; absent what it refused to tell.
struct TelemetryReading {
  std::optional<double> sm_clock_hz;
  std::optional<double> memory_clock_hz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<std::int64_t> clock_event_reasons;  // NVML's bit mask
  /// Of the link at this moment; not in every look, for it changes seldom.
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
};

/// Asked by one thread at a time, which need not be the one that made it.
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

  /// A call that never returned still uses this source: nobody else may.
  void abandon() noexcept { abandoned_ = true; }
  bool abandoned() const noexcept { return abandoned_; }

 private:
  std::atomic<bool> abandoned_ = false;
};

}  // namespace scaleworth::gpu
