// SPDX-License-Identifier: Apache-2.0
/// What can be done to a Kineto recording only once all of it is read.
#pragma once

#include "trace/timeline/recording.h"

#include <chrono>

namespace scaleworth::trace {

/// Moves all times by `base`, and drops what that puts beyond +-2^61 ns ("events_out_of_range").
void shift_times(Recording& recording, std::chrono::nanoseconds base);

/// Puts each of the tool's records of waiting on the thread whose call it belongs to, by
/// correlation; those without a call stay where they are.
void place_synchronizations(Recording& recording);

/// Sorts the events and drops those that occur twice in all that is known of them
/// ("duplicate_events"). Events without a correlation are never taken for the same.
void sort_and_drop_duplicates(Recording& recording);

}  // namespace scaleworth::trace
