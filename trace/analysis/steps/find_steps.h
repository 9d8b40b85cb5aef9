// SPDX-License-Identifier: Apache-2.0
/// Cuts each rank's recording into steps.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/analysis/clocks/clock_map.h"
#include "trace/timeline/recording.h"

#include <string>
#include <vector>

namespace scaleworth::trace {

/// One step of one rank on the common clock. Steps of a rank are disjoint and in order.
struct StepSpan {
  std::int32_t number = 0;  // equal on all ranks for the same iteration
  nanoseconds start{};
  nanoseconds end{};
  std::string excluded;  // why it is not averaged: "boundary: ...", "warm-up: ..."; else empty
};

struct StepPlan {
  attribution::StepChoice choice;
  std::vector<std::vector<StepSpan>> by_rank;  // as Job::recordings
};

/// Markers of the recordings where they have them, else repetition of the sequence of kernels, else
/// the whole span of each rank as one step; the choice is stated. Steps follow each other without
/// gaps where the markers of neighbours do: a step then lasts until the next one begins, and the
/// last one until its marker and all its device work have ended.
StepPlan find_steps(const Job& job, const ClockMap& clocks);

}  // namespace scaleworth::trace
