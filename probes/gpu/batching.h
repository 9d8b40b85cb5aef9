// SPDX-License-Identifier: Apache-2.0
/// Samples from batches of operations: how many operations a batch holds, which batches count and
/// when there are enough, apart from the GPU that runs them.
#pragma once

#include "probes/gpu/device.h"
#include "src/core/units.h"

#include <functional>
#include <optional>
#include <utility>

namespace scaleworth::probes {

/// One batch, as the GPU's own events and counters saw it.
struct BatchTiming {
  Seconds time;                    // of all its operations
  std::optional<double> clock_hz;  // of a multiprocessor, absent where it could not be counted
  /// The operations did not run back to back: the batch began before all of them were queued.
  bool gaps = false;
};

/// Runs `repetitions` operations back to back.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  virtual BatchTiming run(int repetitions) = 0;
};

/// A runner made of a function.
class BatchFunction : public BatchRunner {
 public:
  explicit BatchFunction(std::function<BatchTiming(int)> run) : run_(std::move(run)) {}
  BatchTiming run(int repetitions) override { return run_(repetitions); }

 private:
  std::function<BatchTiming(int)> run_;
};

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

/// The number of repetitions whose batch lasts `options.batch`, found by running ever longer ones;
/// 1 if a single one lasts longer. Throws ProbeFailure if no time passes.
int calibrate_repetitions(BatchRunner& runner, const BatchOptions& options);

/// Calibrates, warms up, then samples until `target` is met. Batches with gaps are not counted but
/// mentioned in the warnings; if most have gaps, batches become smaller, and at one repetition gaps
/// no longer matter. Clocks are left out, with a warning, unless every sample has one.
/// Throws ProbeFailure if a time is not positive, Interrupted between batches.
DeviceMeasured sample_batches(BatchRunner& runner,
                              const Target& target,
                              const BatchOptions& options);

}  // namespace scaleworth::probes
