// SPDX-License-Identifier: Apache-2.0
/// The order of a step: stages, and after which of them each sum over ranks can start.
#pragma once

#include "cuda/training/pass/transformer.h"
#include "probes/training/parameters.h"

#include <cstddef>
#include <string>
#include <vector>

namespace scaleworth::gpu {

/// Stages are numbered through forward and backward. Sum 0 is the loss, sum 1 + i bucket i; none
/// for one rank.
struct StepSchedule {
  std::vector<std::string> stages;
  std::size_t forward_stages = 0;
  std::vector<probes::Bucket> buckets;
  std::vector<std::size_t> posted_after;  // by sum: the stage after which it can start
};

/// `bucket` as TrainingWork has it; buckets hold bf16 gradients.
StepSchedule make_schedule(const DeviceTransformer& model, Bytes bucket, int ranks);

}  // namespace scaleworth::gpu
