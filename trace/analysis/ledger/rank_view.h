// SPDX-License-Identifier: Apache-2.0
/// One rank's recording with its times on the common clock.
#pragma once

#include "trace/analysis/clocks/clock_map.h"
#include "trace/timeline/recording.h"

#include <algorithm>

namespace scaleworth::trace {

/// Refers to what it is made of.
class RankView {
 public:
  RankView(const Recording& recording, const ClockMap& clocks, std::size_t rank)
      : recording_(recording), clocks_(clocks), rank_(rank) {}

  const Recording& recording() const { return recording_; }
  nanoseconds common(nanoseconds time) const { return clocks_.to_common(rank_, time); }
  template <class Event>
  nanoseconds start(const Event& event) const {
    return common(event.start);
  }
  /// Never before the start.
  template <class Event>
  nanoseconds end(const Event& event) const {
    return common(std::max(event.start, event.end));
  }

 private:
  const Recording& recording_;
  const ClockMap& clocks_;
  std::size_t rank_;
};

}  // namespace scaleworth::trace
