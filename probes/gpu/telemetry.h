// SPDX-License-Identifier: Apache-2.0
/// Clocks, power, temperature and throttle reasons while a question was being answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// One reading every 10 to 20 ms, all series of equal length; a reading that the driver refused
/// is NaN, a series that it always refused is empty.
struct Telemetry {
  std::vector<double> time_s;  // since the start of the window
  std::vector<double> sm_clock_hz;
  std::vector<double> memory_clock_hz;
  std::vector<double> power_w;  // instantaneous where the driver has it
  std::vector<double> temperature_c;
  std::vector<std::int64_t> clock_event_reasons;  // NVML's bit mask; -1: refused
  /// Difference of the energy counter over the window: the truth about power for windows of 2 s and
  /// more. Absent without the counter.
  std::optional<double> energy_j;
  double window_s = 0.0;
  /// The highest that the link reached in the window: idle GPUs lower it, a transfer raises it.
  std::optional<int> pcie_generation;
  std::optional<int> pcie_width;
  std::string missing;  // why there are no readings, or none after some moment; else empty
};

/// The names of the bits set in a mask of NVML clock-event reasons: "power cap" (0x4), "hardware
/// slowdown" (0x8), "sync boost" (0x10), "thermal, software" (0x20), "thermal, hardware" (0x40),
/// "power brake" (0x80), "display clocks" (0x100), "idle" (0x1), "application clocks" (0x2); others
/// as "reason 0x...".
std::vector<std::string> clock_event_reason_names(std::int64_t mask);

}  // namespace scaleworth::probes
