// SPDX-License-Identifier: Apache-2.0
/// What a run's environment says of simulated GPUs.
#pragma once

#include "src/core/run.h"
#include "tests/sim/gpu/gpu_truth.h"

#include <vector>

namespace scaleworth::sim {

/// The sections that real GPUs have: "cuda", "gpu 0", ..., "gpu links". At least one GPU.
MachineFacts facts_of(const std::vector<GpuTruth>& truths);

}  // namespace scaleworth::sim
