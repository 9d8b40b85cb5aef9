// SPDX-License-Identifier: Apache-2.0
#include "probes/training/step_probe.h"

#include "probes/training/scaling_plan.h"
#include "probes/training/shape_choice.h"

namespace scaleworth::probes {

Seconds estimate_training(const Setting& setting) {
  const Rounds rounds = rounds_of(setting.suite);
  const std::vector<int> counts = scaling_counts(setting.max_ranks);
  Seconds step_of_each;
  for (const int ranks : counts) {
    step_of_each += target_step * (static_cast<double>(counts.back()) / ranks);  // strong
    if (counts.size() > 1) step_of_each += 2.0 * target_step;                    // weak
  }
  const double modes = counts.size() > 1 ? 2.0 : 1.0;
  // Memory is allocated, touched and filled with weights once per training.
  const Seconds setup(0.03 * rounds.count * modes * static_cast<double>(counts.size()));
  // A short first size, then one or two of full length.
  const Seconds calibration = 1.5 * calibration_length * target_step;
  return rounds.count * (rounds.steps + warmup_steps) * step_of_each + setup + calibration;
}

void measure_training(RankGroup& group,
                      const Setting& setting,
                      const RankOptions& options,
                      Recorder& recorder) {
  check_straggler(group, options);
  recorder.progress(0.0, "sizing the training step");
  TrainingWork work;
  work.straggler = options.straggler;
  const StepSizes sizes = choose_sizes(group, host_family(), work, recorder);
  std::vector<StepSeries> series = scaling_series(group, setting.suite, sizes, work, "fp32");
  measure_rounds(group, rounds_of(setting.suite).count, series, recorder);
}

}  // namespace scaleworth::probes
