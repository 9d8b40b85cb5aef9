// SPDX-License-Identifier: Apache-2.0
/// From the two ends of ranges to annotations, and from annotations to steps.
#pragma once

#include "trace/format/recording/rows/rows.h"
#include "trace/timeline/recording.h"

#include <functional>
#include <span>

namespace scaleworth::trace::recording {

/// What the numbers of a MarkRow mean in a Recording.
struct MarkNames {
  NameId name = NameId::none;
  std::uint32_t thread = 0;
};

/// Adds a range per pair of ends as an annotation. One that nobody closed lasts until the last
/// event of the recording, and is counted in losses as one that nobody opened is; instants are left
/// out.
void add_ranges(Recording& recording,
                std::span<const MarkRow> marks,
                const std::function<MarkNames(const MarkRow&)>& resolve);

/// Sets step_marks from the annotations that name steps: those of the preferred kind of name, then
/// of the thread that has most of them; names without a number are numbered in order. Leaves marks
/// that are there already.
void find_step_marks(Recording& recording);

}  // namespace scaleworth::trace::recording
