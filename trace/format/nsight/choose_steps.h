// SPDX-License-Identifier: Apache-2.0
/// From ranges that look like iterations to the marks of the steps.
#pragma once

#include "trace/format/nsight/contents.h"

#include <vector>

namespace scaleworth::trace::nsight {

/// Takes one kind of range on one thread: numbered names before others, then by preference, then
/// those that cover most time; of nested ones the outer. Numbers that do not rise are replaced by
/// counting, with a remark. Fewer than two ranges without a number are no steps.
void choose_steps(Recording& recording, const std::vector<StepCandidate>& candidates);

}  // namespace scaleworth::trace::nsight
