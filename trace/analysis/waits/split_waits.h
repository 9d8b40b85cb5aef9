// SPDX-License-Identifier: Apache-2.0
/// Waiting told from transfer, in every communication kernel.
#pragma once

#include "src/core/attribution/waits.h"
#include "trace/analysis/clocks/align.h"
#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleworth::trace {

/// One communication event of a rank, on the common clock: [start, split) is wait, [split, end) is
/// transfer. An event without partners is all transfer and `known` is false. `start` is when the
/// rank arrived: the event's own start, but earlier where a framework's timeline records a call
/// only from the moment when everybody is there; the rank's work before it then ended at `start`.
struct CommunicationSplit {
  std::uint32_t event = 0;  // index into device_events
  nanoseconds start{};
  nanoseconds split{};
  nanoseconds end{};
  bool known = false;
  std::optional<Rank> waited_for;  // absent: nobody, a tie, or below the clock error
  std::int64_t collective = -1;    // index into Waits::collectives
};

struct Waits {
  std::vector<std::vector<CommunicationSplit>> by_rank;  // as Job::recordings, by start
  std::vector<attribution::CollectiveWait> collectives;  // step is still -1
};

/// Last-arriver rule (Scalasca's Wait at NxN) for collectives in which everybody needs everybody;
/// one-sided rules for broadcast and scatter (wait for the root), reduce and gather (the root waits
/// for the last), send and receive (late sender, late receiver).
Waits split_waits(const Job& job, const Matching& matching, const Alignment& alignment);

}  // namespace scaleworth::trace
