// SPDX-License-Identifier: Apache-2.0
/// What a step's events on the GPU say, as spans of the ledger.
#pragma once

#include "cuda/training/step/step_schedule.h"
#include "src/core/span.h"

#include <cstdint>
#include <vector>

namespace scaleworth::gpu {

/// Of one step of one rank, in seconds of the GPU's clock.
struct StepTimes {
  double previous_end = 0.0;      // the step before was done
  double start = 0.0;             // the input had arrived
  std::vector<double> stage_end;  // by stage
  std::vector<double> sum_end;    // by sum over ranks
  double end = 0.0;               // the weights were updated
};

/// The GPU's clock to the host's: host = offset + factor gpu, in seconds.
struct ClockMap {
  double offset = 0.0;
  double factor = 1.0;
};

/// The compute stream is what a rank does: its stages follow each other; a sum is posted when the
/// stage before it ends; when backward is done the stream is blocked until each sum that is still
/// on its way has come; the update follows. A step lasts from the end of the one before to its own
/// end; until its input has arrived, the host had the word. Spans neither overlap nor go back.
void append_step_spans(const StepSchedule& schedule,
                       const StepTimes& times,
                       const ClockMap& clock,
                       Rank rank,
                       std::int32_t step,
                       std::vector<Span>& spans);

}  // namespace scaleworth::gpu
