// SPDX-License-Identifier: Apache-2.0
/// All GPUs of a node at once: how evenly they run, and why one is slow.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// GPUs of one model differ by as much in good health. Source: published per-GPU tables of 8-GPU
/// nodes spread by 5 % (stas00/ml-engineering).
inline constexpr double normal_spread = 0.05;

/// From roofline.gpu.together: passes "alone" and "together" of each GPU. A GPU is slow when the
/// whole interval of its rate over the median of the others of its model lies more than 5 % below 1
/// (without intervals, when the value does). Its cause is the difference to the others that
/// accounts for the lower clock - power limit, slow-down reason, temperature - if the clock
/// explains at least 80 % of the loss; a slow GPU at the others' clock is unexplained. Absent for
/// fewer than two GPUs. `gpus` give limits; `given` is --peak. Throws UserError when a point lacks
/// a parameter or an amount.
std::optional<GpusTogether> compare_gpus(const Run& run,
                                         const std::vector<GpuResult>& gpus,
                                         std::optional<FlopPerSecond> given);

}  // namespace scaleworth::model
