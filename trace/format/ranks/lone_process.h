// SPDX-License-Identifier: Apache-2.0
/// A job of one process that drives several GPUs, none of which is told to be a rank.
#pragma once

#include "trace/classify/rules.h"
#include "trace/timeline/recording.h"

namespace scaleworth::trace {

/// Splits the only recording of a job into one per GPU, ranks counted in the order of the GPUs, and
/// says so, where the kernels show that each GPU is a rank: all GPUs run the same kinds of
/// collectives in the same order, at least three, and in nine of ten all GPUs are in it at one
/// time. Left as it is where it is a rank of a larger job. Call before assign_ranks.
void split_lone_process(Job& job, const RuleTable& rules);

}  // namespace scaleworth::trace
