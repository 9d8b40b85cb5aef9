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
#include <optional>
#include <vector>

namespace scaleworth::probes::host {
/// Collective over the operation's group; the operation is prepared on every rank. Warms up, times
/// batch after batch (rank 0 gathers the stamps between batches, feeds the time of each repetition
/// to the stopping rule and broadcasts whether to go on), and verifies the last result.
/// Isolated: the ranks start at the same instant of the common clock, and the time is from the
/// first start to the last end. After a barrier alone they would start up to a message's way apart,
/// which counted as the operation's doubles a latency. Back to back: the slowest rank's duration.
/// `clock` brings this rank's stamps to rank 0's clock. One buffer is used again and again, so
/// messages that fit are warm in cache. In back-to-back mode one timing is a block of operations.
/// Throws on every rank when one of them fails or is interrupted.
CollectiveMeasured measure_collective(const Operation& operation,
                                      CollectiveMode mode,
                                      const StoppingTarget& target,
                                      const ClockOffset& clock,
                                      Watchdog& watchdog);

/// Every node with every other, or with some (`pair_rounds`): the first rank of each sends a
/// message to that of another and gets it back, while all other pairs of the round do; before that
/// with the second rank of its node. Points on rank 0: send_receive of 8 B, 256 KiB and 1 MiB with
/// the nodes as source_index and target_index (equal within a node), and half the times of there
/// and back. `node_of`: by rank.
std::vector<Point> measure_pairs(const MpiModule& mpi,
                                 MpiGroup world,
                                 const std::vector<int>& node_of);

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

/// How ranks start an operation at the same instant: they agree on the latest of their clocks, and
/// each waits until `slack_ns` later. Source: Hunold and Carpen-Amarie, "Reproducible MPI
/// Benchmarking is Still Not as Easy as You Think", IEEE TPDS 27(12), 2016 (synchronized clocks).
struct CommonStart {
  std::int64_t clock_offset_ns = 0;  // brings this rank's clock to the common one
  std::int64_t slack_ns = 0;         // the same on all ranks
};

/// `repetitions` times: a common start (absent: a barrier), clock, `operations` runs, clock. One
/// operation gives isolated latency, many give back-to-back throughput; the caller divides. Throws
/// ProbeFailure when an operation reports an error.
std::vector<Stamp> time_repetitions(const Operation& operation,
                                    int repetitions,
                                    int operations,
                                    const std::optional<CommonStart>& start);

// A barrier whose waiting ranks sleep instead of spinning, so that they do not take the cores of
// the ranks that work.

/// Collective over `group`; the ranks wake every millisecond to look. Throws ProbeFailure when MPI
/// reports an error; a watchdog has to bound the wait.
void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group);
}  // namespace scaleworth::probes::host
