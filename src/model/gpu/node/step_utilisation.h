// SPDX-License-Identifier: Apache-2.0
/// Model FLOPs utilisation of training steps on GPUs.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"
#include "src/model/gpu/gpu_analysis.h"

#include <vector>

namespace scaleworth::model {

/// Fills mfu_measured and its basis in rows whose steps multiplied in a format that a GPU's
/// products were measured in: against the steady rate of the slowest such GPU times the ranks,
/// because the slowest sets the pace. The basis names the share that this rate is of the
/// datasheet's.
void add_gpu_utilisation(const Run& run,
                         const std::vector<GpuResult>& gpus,
                         std::vector<ScalingResult>& scaling);

}  // namespace scaleworth::model
