// SPDX-License-Identifier: Apache-2.0
/// Runs the reference training on GPUs: a thread per GPU in one process, a process per GPU, or
/// both.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "cuda/nccl/rank_message.h"
#include "cuda/training/device_trainer.h"
#include "cuda/training/step_spans.h"
#include "probes/ranks.h"
#include "probes/rendezvous.h"
#include "src/core/estimate.h"
#include "src/core/span.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::gpu {
/// Called by every process of `meeting`, each with its own ranks of the training (none for a
/// process that only looks on); together they are ranks 0 to work.ranks - 1. Everything outlives
/// the call. Steps run back to back; what a step took is the time from the end of the one before,
/// on the GPU. The result is complete on rank 0 of the meeting; elsewhere the timeline is empty.
/// Every process throws alike: UserError for impossible work, OutOfMemory when some GPU cannot hold
/// the training, ProbeFailure naming the rank when a step does not end or the loss is no longer
/// finite, Interrupted.
TrainingMeasured train_on_gpus(const std::vector<TrainingRank>& local,
                               Rendezvous& meeting,
                               const std::shared_ptr<const CublasLt>& library,
                               const TrainingWork& work);

/// What a rank reports to rank 0 of its measured steps.
struct RankShare {
  Rank rank;
  ClockMap clock;
  double clock_error_s = 0.0;
  std::uint64_t fingerprint = 0;  // of the weights at the end
  std::vector<StepTimes> steps{};
};

void list(RankMessage& message, StepTimes& one);
void list(RankMessage& message, RankShare& one);

/// The spans of all shares; a step is numbered from 0 in each. The caller
/// sets the clock's method.
Timeline timeline_of(const StepSchedule& schedule, const std::vector<RankShare>& shares);
}  // namespace scaleworth::gpu
