// SPDX-License-Identifier: Apache-2.0
/// One collective, its buffers, timed loops.
#pragma once

#include "probes/host/ranks/mpi_module.h"
#include "probes/host/ranks/mpi_rank_group.h"
#include "probes/host/training/training.h"
#include "probes/ranks.h"
#include "src/core/statistics/sampling.h"

#include <chrono>
#include <cstdint>
#include <vector>

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

// The timed loops: nothing but clock readings, the operation and the barrier before it.

/// Start and end of one repetition on one rank, steady clock in ns. Plain memory: it is gathered
/// byte by byte.
struct Stamp {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

inline std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// `repetitions` times: barrier, clock, `operations` runs, clock. One operation gives isolated
/// latency, many give back-to-back throughput; the caller divides. Throws ProbeFailure when an
/// operation reports an error.
std::vector<Stamp> time_repetitions(const Operation& operation, int repetitions, int operations);

// A barrier whose waiting ranks sleep instead of spinning, so that they do not take the cores of
// the ranks that work.

/// Collective over `group`; the ranks wake every millisecond to look. Throws ProbeFailure when MPI
/// reports an error; a watchdog has to bound the wait.
void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group);
}  // namespace scaleworth::probes::host
