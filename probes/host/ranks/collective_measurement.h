// SPDX-License-Identifier: Apache-2.0
/// Samples one collective until rank 0's stopping rule has enough.
#pragma once

#include "probes/host/ranks/operation.h"
#include "probes/host/ranks/watchdog.h"
#include "probes/host/training/clock_offset.h"
#include "probes/ranks.h"
#include "src/core/statistics/stopping_rule.h"

namespace scaleworth::probes::host {

/// Collective over the operation's group; the operation is prepared on every rank. Warms up, times
/// batch after batch (rank 0 gathers the stamps between batches, feeds the slowest rank's duration
/// to the stopping rule and broadcasts whether to go on), and verifies the last result.
/// `clock` brings this rank's stamps to rank 0's clock. One buffer is used again and again, so
/// messages that fit are warm in cache. In back-to-back mode one timing is a block of operations.
/// Throws on every rank when one of them fails or is interrupted.
CollectiveMeasured measure_collective(const Operation& operation,
                                      CollectiveMode mode,
                                      const StoppingTarget& target,
                                      const ClockOffset& clock,
                                      Watchdog& watchdog);

}  // namespace scaleworth::probes::host
