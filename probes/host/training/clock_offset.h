// SPDX-License-Identifier: Apache-2.0
/// The offset between two ranks' clocks, bounded by messages that cannot arrive before they left.
#pragma once

#include "probes/host/mpi/module.h"

#include <chrono>
#include <functional>
#include <string>

namespace scaleworth::probes::host {

/// What to add to a rank's clock to read rank 0's, known to +- `error`.
struct ClockOffset {
  std::chrono::nanoseconds offset{};
  std::chrono::nanoseconds error{};
};

using ClockReading = std::function<std::chrono::nanoseconds()>;

/// Each rank's offset to rank 0, from 200 round trips one rank after another. With theta = clock of
/// rank r minus clock of rank 0: a message that left rank 0 at s and reached r at a bounds
/// theta <= a - s; one that left r at s and reached 0 at a bounds theta >= s - a. The offset is
/// minus the middle of the tightest bounds, the error half their distance. Assumes that the clocks
/// do not drift apart meanwhile. Collective over the group. Zero on rank 0.
/// Throws ProbeFailure when the bounds contradict each other (a clock was set).
ClockOffset measure_clock_offset(const MpiModule& mpi, MpiGroup group, const ClockReading& now);

}  // namespace scaleworth::probes::host
