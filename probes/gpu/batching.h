// SPDX-License-Identifier: Apache-2.0
/// Samples from batches of operations: how many operations a batch holds, which batches count and
/// when there are enough, apart from the GPU that runs them.
#pragma once

#include "probes/gpu/device.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes {
/// One batch, as the GPU's own events and counters saw it.
struct BatchTiming {
  Seconds time;                    // of all its operations
  std::optional<double> clock_hz;  // of a multiprocessor, absent where it could not be counted
  /// The operations did not run back to back: the batch began before all of them were queued.
  bool gaps = false;
};

/// Runs `repetitions` operations back to back.
using BatchFunction = std::function<BatchTiming(int repetitions)>;

struct BatchOptions {
  /// An event's resolution of about 0.5 us is then below 0.01 %.
  Seconds batch{0.020};
  /// What a blocked stream's queue holds for certain; about 1022 fit.
  int maximum_repetitions = 500;
  /// Of a batch, where the caller knows how long one lasts; 0: calibrated.
  int repetitions = 0;
  /// Batches that are run and forgotten before the first sample.
  Seconds warm_up{0.020};
  /// One repetition is so many operations; samples are per operation.
  double operations = 1.0;
};

/// The number of repetitions whose batch lasts `options.batch`, found by running ever longer ones
/// until `options.warm_up` has passed as well, so at no idle clock; 1 if a single one lasts longer.
/// A batch with gaps is run again, twice at most. Throws ProbeFailure if no time passes.
int calibrate_repetitions(const BatchFunction& run, const BatchOptions& options);

/// Calibrates while it warms up, then samples until `target` is met. Batches last `options.batch`,
/// or less where the minimum of samples would not fit the budget. Batches with gaps are not counted
/// but mentioned in the warnings; if most have gaps, batches become smaller (`most_at_once`), and
/// at one repetition they are counted, with a warning. Clocks are left out, with a warning, unless
/// every sample has one. Throws ProbeFailure if a time is not positive, Interrupted between
/// batches.
DeviceMeasured sample_batches(const BatchFunction& run, const Target& target, BatchOptions options);

/// What one multiprocessor wrote; slot i belongs to multiprocessor i. `batch` shows whether the
/// slot was written for this batch or is left over from an earlier one.
struct ClockStamp {
  std::uint64_t nanoseconds = 0;  // the GPU's global timer
  std::uint64_t cycles = 0;       // this multiprocessor's counter
  std::uint64_t batch = 0;
};

/// Median over multiprocessors with both stamps of `batch`: cycles between them / time between
/// them. Absent when there is none, or when less than half a millisecond passed: the timer steps by
/// up to a microsecond.
std::optional<double> clock_between(std::span<const ClockStamp> before,
                                    std::span<const ClockStamp> after,
                                    std::uint64_t batch);

/// next[i] is the place after place i: one cycle through all `count` places, each such cycle
/// equally likely, the same for the same seed. Sattolo's algorithm (Information Processing Letters
/// 22, 1986). `count` at least 1.
std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed);

/// The place `steps` after `start`.
std::uint32_t place_after(const std::vector<std::uint32_t>& next,
                          std::uint32_t start,
                          std::uint64_t steps);

/// `setting` and the GPU's ordinal; series wall_s, and clock_hz and telemetry_* where there are
/// any; amounts flops and bytes where not zero. A telemetry reading of which the driver refused a
/// part is left out, and counted in a warning.
Point device_point(int ordinal, Setting setting, const DeviceMeasured& measured);
}  // namespace scaleworth::probes
