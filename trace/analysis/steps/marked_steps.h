// SPDX-License-Identifier: Apache-2.0
/// Steps where the recording itself marks them.
#pragma once

#include "trace/analysis/ledger/rank_view.h"
#include "trace/analysis/steps/find_steps.h"

#include <vector>

namespace scaleworth::trace {

/// One rank's steps by its marks, in order and disjoint. A step lasts until the mark of the next
/// number begins; before a jump in the numbers and at the end, until its mark and the device work
/// launched under it have ended, or the next mark begins. Marks of one number that overlap (two
/// threads, nested ranges) are one.
std::vector<StepSpan> marked_steps(const RankView& rank);

}  // namespace scaleworth::trace
