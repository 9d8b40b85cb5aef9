// SPDX-License-Identifier: Apache-2.0
/// Which part of a job an export shows.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/attribute.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

struct Selection {
  TimeInterval window;      // on the common clock
  std::vector<bool> ranks;  // by place in the job

  /// What overlaps the window is shown whole.
  bool shows(nanoseconds start, nanoseconds end) const {
    return start < window.end && (end > window.start || start >= window.start);
  }
};

}  // namespace scaleworth::trace
