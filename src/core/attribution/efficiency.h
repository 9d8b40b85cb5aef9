// SPDX-License-Identifier: Apache-2.0
/// Factors of parallel efficiency, the critical path, and what would happen if.
#pragma once

#include "src/core/attribution/step_ledger.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::attribution {

/// The POP factors for GPUs; waiting inside a collective is never useful. All in (0, 1], and
///   parallel = load_balance * serialization * transfer, serialization = host * dependency.
/// Source: POP Centre of Excellence, "POP Standard Metrics"; with kernels that are not
/// communication as useful time.
struct Efficiency {
  /// Which time this is about: "steps 11 to 20", "from the first to the last device event, because
  /// no step counts".
  std::string window;
  double parallel = 0.0;            // mean useful / runtime
  double load_balance = 0.0;        // mean useful / largest useful
  double serialization = 0.0;       // largest useful / runtime with transfers of zero length
  double host = 0.0;                // of serialization: due to hosts that launch late
  double dependency = 0.0;          // of serialization: the rest
  double transfer = 0.0;            // runtime with transfers of zero length / runtime
  Nanoseconds runtime{};            // of the window: the slowest rank, steps that count
  std::vector<Nanoseconds> useful;  // by rank

  /// Predicted step times, by replaying the recording's dependencies.
  struct WhatIf {
    std::string change;  // "without rank 3's lateness", "transfers take no time", ...
    Nanoseconds step_time{};
    Nanoseconds saved{};
  };
  Nanoseconds step_time{};  // mean measured, of the slowest rank
  /// The replay without any change against the measurement, as a fraction: how far to trust it.
  double replay_error = 0.0;
  std::vector<WhatIf> what_if;  // each alone, the largest saving first; savings do not add up

  /// The chain of work that sets the run's length.
  struct PathShare {
    Rank rank;
    std::string what;  // "compute", "transfer of all_reduce", "host late: data loading"
    Nanoseconds time{};
  };
  std::vector<PathShare> critical_path;  // largest first; sums to the window's runtime
};

}  // namespace scaleworth::attribution
