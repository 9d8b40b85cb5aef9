// SPDX-License-Identifier: Apache-2.0
/// How a training step is sized and its scaling measured: calibration, strong and weak series,
/// rounds.
#pragma once

#include "probes/ranks.h"
#include "probes/recorder.h"
#include "probes/registry.h"
#include "probes/suite.h"
#include "probes/training/shape_choice.h"
#include "probes/training/step_series.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::probes {

inline constexpr int warmup_steps = 3;
inline constexpr int calibration_length = 7;  // steps, warm-up included

struct Rounds {
  int count = 2;
  int steps = 10;  // measured, per round and setting
};
Rounds rounds_of(Suite suite);

struct StepSizes {
  TransformerShape shape;
  std::int64_t batch = 1;  // sequences per rank
};

/// Throws UserError for a straggler that is not among the ranks.
void check_straggler(const RankGroup& group, const RankOptions& options);

/// Trains members of `family` on all ranks until the next choice is no wider than one measured:
/// wider products are faster, so each member that is chosen is measured itself. `work` holds
/// everything but shape, ranks, batch and steps; no rank is slowed down. Where memory does not
/// suffice after all, the choice goes on with less, and a warning.
StepSizes choose_sizes(RankGroup& group,
                       const ShapeFamily& family,
                       const TrainingWork& work,
                       Recorder& recorder);

/// Strong at each count, then weak with twice the batch per rank; strong alone for one rank.
std::vector<StepSeries> scaling_series(const RankGroup& group,
                                       Suite suite,
                                       const StepSizes& sizes,
                                       const TrainingWork& work,
                                       const std::string& precision);

/// One training per series and round; even rounds go up the list, odd ones down, so that no series
/// always comes first. `append` gets each result.
void run_rounds(RankGroup& group, int rounds, std::vector<StepSeries>& series, Recorder& recorder);

/// run_rounds, then points and timelines; after an exception those of complete rounds.
void measure_rounds(RankGroup& group,
                    int rounds,
                    std::vector<StepSeries>& series,
                    Recorder& recorder);

}  // namespace scaleworth::probes
