// SPDX-License-Identifier: Apache-2.0
/// Which steps must not be averaged with others, and why.
#pragma once

#include "trace/analysis/steps/find_steps.h"

#include <vector>

namespace scaleworth::trace {

/// How many numbers there are, and how many of them are excluded.
struct FlagCounts {
  std::int32_t steps = 0;
  std::int32_t excluded = 0;
};

/// Sets StepSpan::excluded of the steps of one number on all ranks alike:
///   boundary: the first and the last number of any rank, those next to a jump in the numbers
///     (profiling paused there) unless `whole` says that each step was recorded as a whole, and
///     those that some rank does not have;
///   warm-up: of the others, if there are at least five, the first ones in a row that take longer
///     than the median of the later half by a fifth of it and by five times its normal spread
///     (1.4826 times the median absolute deviation). A step takes as long as on its slowest rank.
/// Steps of a rank must be in the order of their numbers.
FlagCounts flag_steps(std::vector<std::vector<StepSpan>>& by_rank, bool whole);

}  // namespace scaleworth::trace
