// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr int gaps_until_smaller = 2;

BatchTiming run_once(BatchRunner& runner, int repetitions) {
  check_interrupt();
  const BatchTiming timing = runner.run(repetitions);
  if (!std::isfinite(timing.time.value()) || timing.time.value() <= 0.0) {
    throw ProbeFailure(fmt::format(
        "{} operations took {} s by the GPU's clock: its events or the kernel are broken",
        repetitions,
        timing.time.value()));
  }
  return timing;
}

/// Batches that have no gaps, or as few as can be had.
class GapFree {
 public:
  GapFree(BatchRunner& runner, int repetitions) : runner_(runner), repetitions_(repetitions) {}

  BatchTiming next() {
    BatchTiming timing = run_once(runner_, repetitions_);
    int in_a_row = 0;
    while (timing.gaps && repetitions_ > 1) {
      ++discarded_;
      if (++in_a_row == gaps_until_smaller) {
        repetitions_ = std::max(1, repetitions_ / 2);
        in_a_row = 0;
      }
      timing = run_once(runner_, repetitions_);
    }
    return timing;
  }
  int repetitions() const { return repetitions_; }
  int discarded() const { return discarded_; }

 private:
  BatchRunner& runner_;
  int repetitions_;
  int discarded_ = 0;
};

void keep_clocks(std::vector<std::optional<double>> clocks, DeviceMeasured& measured) {
  const auto missing = std::ranges::count_if(clocks, [](const auto& clock) { return !clock; });
  if (missing > 0) {
    measured.warnings.push_back(
        fmt::format("the clock could not be counted in {} of {} samples", missing, clocks.size()));
    return;
  }
  for (const std::optional<double>& clock : clocks) measured.clock_hz.push_back(*clock);
}

}  // namespace

int calibrate_repetitions(BatchRunner& runner, const BatchOptions& options) {
  int repetitions = 1;
  while (true) {
    const double time = run_once(runner, repetitions).time.value();
    if (time >= options.batch.value() || repetitions >= options.maximum_repetitions) break;
    // One repetition is dearer than many in a row; a factor of ten keeps that error small.
    const double needed = std::ceil(repetitions * options.batch.value() / time);
    const double bounded = std::min(needed, 10.0 * repetitions);
    repetitions = std::clamp(
        static_cast<int>(bounded), repetitions + 1, std::max(1, options.maximum_repetitions));
  }
  return repetitions;
}

DeviceMeasured sample_batches(BatchRunner& runner,
                              const Target& target,
                              const BatchOptions& options) {
  run_once(runner, 1);
  GapFree batches(runner,
                  options.repetitions > 0
                      ? std::min(options.repetitions, options.maximum_repetitions)
                      : calibrate_repetitions(runner, options));
  for (Seconds warmed{}; warmed < options.warm_up;) warmed += batches.next().time;

  StoppingRule rule(target);
  std::vector<std::optional<double>> clocks;
  while (!rule.finished()) {
    const BatchTiming timing = batches.next();
    rule.add(timing.time / (batches.repetitions() * options.operations), timing.time);
    clocks.push_back(timing.clock_hz);
  }
  DeviceMeasured measured;
  measured.time_s = rule.samples();
  measured.stop_reason = rule.explanation();
  if (batches.discarded() > 0) {
    measured.warnings.push_back(
        fmt::format("{} batches left out: the host queued their operations too slowly for them to "
                    "run back to back",
                    batches.discarded()));
  }
  keep_clocks(std::move(clocks), measured);
  return measured;
}

}  // namespace scaleworth::probes
