// SPDX-License-Identifier: Apache-2.0
/// The timed loops: nothing but clock readings, the operation and the barrier before it.
#pragma once

#include "probes/host/ranks/operation.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace scaleworth::probes::host {

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

}  // namespace scaleworth::probes::host
