// SPDX-License-Identifier: Apache-2.0
/// When each rank came to a collective and when it left, on the common clock.
#pragma once

#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

struct Arrival {
  nanoseconds start{};
  nanoseconds end{};
};

/// A kernel starts when its rank arrives. Frameworks' timelines may record a call only from the
/// moment when everybody has come: its starts then agree far better than the ends of the ranks'
/// work before it, and those ends are the arrivals.
class ArrivalFinder {
 public:
  /// Both must outlive this object.
  ArrivalFinder(const Job& job, const ClockMap& clocks);

  /// By member.
  std::vector<Arrival> of(const MatchedCollective& collective) const;

 private:
  const Job& job_;
  const ClockMap& clocks_;
  /// By recording and event: latest end of what started before; only for frameworks' timelines.
  std::vector<std::vector<nanoseconds>> busy_until_;
};

}  // namespace scaleworth::trace
