// SPDX-License-Identifier: Apache-2.0
/// What a step's events on the GPU say, as spans of the ledger.
#pragma once

#include "cuda/runtime/handles.h"
#include "cuda/training/transformer.h"
#include "probes/training/shape.h"
#include "src/core/span.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// The order of a step: stages, and after which of them each sum over ranks can start. Stages are
/// numbered through forward and backward. Sum 0 is the loss, sum 1 + i bucket i; none for one rank.
struct StepSchedule {
  std::vector<std::string> stages;
  std::vector<Bucket> buckets;
  std::vector<std::size_t> posted_after;  // by sum: the stage after which it can start
};

/// `bucket` as TrainingWork has it; buckets hold bf16 gradients.
StepSchedule make_schedule(const DeviceTransformer& model, Bytes bucket, int ranks);

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
/// end; until its input has arrived, the time is the host's. Spans neither overlap nor go back.
void append_step_spans(const StepSchedule& schedule,
                       const StepTimes& times,
                       const ClockMap& clock,
                       Rank rank,
                       std::int32_t step,
                       std::vector<Span>& spans);

/// An event with the host's time of it: `host_s` +- `error_s`, seconds of the monotonic clock.
struct ClockAnchor {
  Event event;
  double host_s = 0.0;
  double error_s = 0.0;
};

/// Records an event on the idle `stream` between two readings of the host's clock, and keeps the
/// tightest of 50 tries. The stream must have nothing queued. Throws gpu::Error.
ClockAnchor set_anchor(cudaStream_t stream);

/// `gpu_s`: from the first to the second anchor on the GPU's clock. Times of the GPU count from the
/// first; the line through both takes up the drift between.
ClockMap clock_between(double first_host_s, double second_host_s, double gpu_s);
}  // namespace scaleworth::gpu
