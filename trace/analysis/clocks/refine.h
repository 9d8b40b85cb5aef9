// SPDX-License-Identifier: Apache-2.0
/// Offsets and drifts that make the ends of collectives agree best, and then break no law.
#pragma once

#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/clocks/meetings.h"
#include "trace/analysis/clocks/placement.h"

#include <optional>
#include <vector>

namespace scaleworth::trace {

/// Starting from `placement`: minimises the distances of every rank's ends from the median end of
/// each collective, weighted by Meeting::weight, over one offset per rank (by medians); and over a
/// drift (by Huber's loss) for ranks where that is significant (5 standard errors), matters over
/// the recording, and has at least `fewest_for_drift` collectives. The first rank of every
/// component keeps its own clock.
inline constexpr std::size_t fewest_for_drift = 16;
ClockMap refine_clocks(const Meetings& meetings, const Placement& placement);

/// `clocks` moved as little as the laws ask for: no participant of a collective ends before the
/// last one begins, no message arrives before it is sent. Where the laws contradict each other, the
/// largest breach is made smallest.
ClockMap obey_causality(const Meetings& meetings,
                        const Placement& placement,
                        const ClockMap& clocks);

/// How far each rank's clock could be moved down and up, all others held, without breaking a law:
/// (low, high), low > high where they contradict. Absent where nothing bounds one of them.
struct Freedom {
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;
};
std::vector<Freedom> freedom_of(const Meetings& meetings, const ClockMap& clocks);

/// Ends of participants more than `error` before the last begin of their collective.
std::int64_t count_violations(const Meetings& meetings, const ClockMap& clocks, nanoseconds error);

}  // namespace scaleworth::trace
