// SPDX-License-Identifier: Apache-2.0
/// When a rank's kernels compute, asked for many stretches of time.
#pragma once

#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/intervals.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

class ComputeCover {
 public:
  /// Kernels of recording `rank` that are not communication, on the common clock.
  ComputeCover(const Recording& recording, const ClockMap& clocks, std::size_t rank);

  /// How much of `range` some kernel computes, in O(log n).
  nanoseconds within(TimeInterval range) const;

 private:
  nanoseconds before(nanoseconds time) const;

  IntervalSet busy_;
  std::vector<nanoseconds> lengths_;  // of all ranges before this one
};

}  // namespace scaleworth::trace
