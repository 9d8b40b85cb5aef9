// SPDX-License-Identifier: Apache-2.0
/// Steps where nothing marks them: a kernel that comes back at equal distances in the sequence of
/// kernels, with the same kernels in between.
#pragma once

#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

struct Repetition {
  std::string anchor;                 // the kernel that begins each piece
  std::vector<std::uint32_t> begins;  // its events, in order: indices into device_events
  std::size_t period = 0;             // median number of kernels from one to the next
  /// How far consecutive pieces consist of the same kernels: mean of 2 common / (sum of lengths).
  double agreement = 0.0;
};

/// Candidates are the names that occur at least four times, at distances of which nine in ten are
/// within a tenth of their median, over at least 60 % of the recording. Iterations hold layers,
/// which repeat too: the largest period that at least three names share is taken, or a larger one
/// of fewer names if it breaks the rhythm of the smaller (a kernel of every tenth iteration does
/// not). Its pieces must agree by 80 %. Of its names the one with the longest pauses before it
/// begins the pieces, because there the host came late. O(n log n) for n kernels. Absent: nothing
/// repeats.
std::optional<Repetition> find_repetition(const Recording& recording);

/// The same for a given anchor; absent when it does not repeat regularly in this recording.
std::optional<Repetition> repetition_of(const Recording& recording, const std::string& anchor);

}  // namespace scaleworth::trace
