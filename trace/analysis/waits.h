// SPDX-License-Identifier: Apache-2.0
/// Wait against transfer in each collective.
#pragma once

#include "trace/analysis/clocks.h"
#include "trace/analysis/intervals.h"

namespace scaleworth::trace {
/// When each rank came to a collective and when it left, on the common clock.
/// A kernel starts when its rank arrives. Frameworks' timelines may record a call only from the
/// moment when all have come: its starts then agree far better than the ends of the ranks'
/// work before it, and those ends are the arrivals; none is before any rank began the step.
class ArrivalFinder {
 public:
  /// Both must outlive this object.
  ArrivalFinder(const Job& job, const ClockMap& clocks);

  /// By member.
  std::vector<TimeInterval> of(const MatchedCollective& collective) const;

 private:
  const Job& job_;
  const ClockMap& clocks_;
  /// By recording and event: latest end before it, or its step's begin; only of such timelines.
  std::vector<std::vector<nanoseconds>> busy_until_;
};

/// One communication event of a rank, on the common clock: [start, split) is wait, [split, end) is
/// transfer. Where not all that the rank waits for are recorded `known` is false: then
/// [split, end), of an event without partners all of it, is wait or transfer. `start` is when the
/// rank arrived: the event's own start, but earlier where a framework's timeline records a call
/// only from the moment when all are there; the rank's work before it then ended at `start`.
struct CommunicationSplit {
  std::uint32_t event = 0;  // index into device_events
  nanoseconds start{};
  nanoseconds split{};
  nanoseconds end{};
  bool known = false;
  std::optional<Place> waited_for{};  // absent: no rank, a tie, or below the clock error
  std::int64_t collective = -1;       // index into Waits::collectives
  bool below_error = false;           // the wait is no longer than the clock error
};

struct Waits {
  std::vector<std::vector<CommunicationSplit>> by_rank;  // as Job::recordings, by start
  std::vector<CollectiveWait> collectives;               // step is still -1
};

/// Last-arriver rule (Scalasca's Wait at NxN) for collectives in which every rank needs every
/// other; one-sided rules for broadcast and scatter (wait for the root), reduce and gather (the
/// root waits for the last), send and receive (late sender, late receiver).
Waits split_waits(const Job& job, const Matching& matching, const Alignment& alignment);
}  // namespace scaleworth::trace
