// SPDX-License-Identifier: Apache-2.0
/// Runs the reference training on GPUs: a thread per GPU in one process, a process per GPU, or
/// both.
#pragma once

#include "cuda/libraries/cublas_lt.h"
#include "cuda/libraries/cupti.h"
#include "cuda/training/step/exchange.h"
#include "probes/launch/rendezvous.h"
#include "probes/ranks.h"
#include "src/core/outcome.h"

#include <memory>
#include <vector>

namespace scaleworth::gpu {

/// A rank of the training whose GPU is this process's. `exchange` sums over the `work.ranks` ranks
/// of the training; null for one rank.
struct TrainingRank {
  int ordinal = 0;
  Rank rank;
  GradientExchange* exchange = nullptr;
};

struct TrainingLibraries {
  std::shared_ptr<const CublasLt> cublas_lt;
  Outcome<std::shared_ptr<const Cupti>> cupti;  // for TrainingWork::trace
};

/// Called by every process of `meeting`, each with its own ranks of the training (none for a
/// process that only looks on); together they are ranks 0 to work.ranks - 1. Everything outlives
/// the call. Steps run back to back; what a step took is the time from the end of the one before,
/// on the GPU. The result is complete on rank 0 of the meeting; elsewhere the timeline is empty.
/// Every process throws alike: UserError for impossible work, OutOfMemory when some GPU cannot hold
/// the training, ProbeFailure naming the rank when a step does not end or the loss is no longer
/// finite, Interrupted.
probes::TrainingMeasured train_on_gpus(const std::vector<TrainingRank>& local,
                                       probes::Rendezvous& meeting,
                                       const TrainingLibraries& libraries,
                                       const probes::TrainingWork& work);

}  // namespace scaleworth::gpu
