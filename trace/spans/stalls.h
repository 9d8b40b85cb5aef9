// SPDX-License-Identifier: Apache-2.0
/// Who held up a collective after everyone had arrived, where data move only inside library calls.
#pragma once

#include "src/core/span.h"
#include "trace/spans/arrivals.h"
#include "trace/spans/segments.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace scaleworth::trace {

struct TimeRange {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

/// Somebody was away during `time`. `rank` is absent when several were and the two that come back
/// last do so within the clock error of each other.
struct Stall {
  TimeRange time;
  std::optional<Rank> rank;
};

/// When each rank of a timeline was away from the library, and when it had completed what.
///   away: in a compute, optimizer or host segment of the collective's step; time that no span
///     covers is not known to be away.
///   completion of a collective on a rank: the earliest end of its collective_wait spans of it. A
///     rank without one completed it in some call that ended after the last arrival: it counts as
///     not complete until the first such call begins, and is never blamed from there on.
class StallTable {
 public:
  StallTable(const Timeline& timeline, const SegmentedTimeline& segmented);

  /// The parts of `time` in which a rank other than `waiter` was away that had not completed
  /// `collective`; in order, disjoint, neighbours of the same rank joined. Of several the one that
  /// comes back last (whose next call begins last) is named: until then nothing moves, whatever
  /// the others do. `arrived` is when the last rank arrived at the collective.
  std::vector<Stall> stalls(CollectiveKey collective,
                            std::chrono::nanoseconds arrived,
                            Rank waiter,
                            TimeRange time) const;

 private:
  struct Absence {
    TimeRange time;
    std::chrono::nanoseconds back{};  // the next call begins; the step ends where there is none
  };
  struct RankStep {
    int rank = 0;
    std::vector<Absence> absences;                                 // in order, disjoint
    std::vector<TimeRange> calls;                                  // in order, disjoint
    std::map<std::int32_t, std::chrono::nanoseconds> completions;  // by sequence
  };

  void add(const StepSegments& step, const std::vector<Span>& spans);
  static std::chrono::nanoseconds incomplete_until(const RankStep& step,
                                                   std::int32_t sequence,
                                                   std::chrono::nanoseconds arrived);

  std::chrono::nanoseconds clock_error_;
  std::map<std::int32_t, std::vector<RankStep>> steps_;  // by step number
};

}  // namespace scaleworth::trace
