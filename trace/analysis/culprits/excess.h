// SPDX-License-Identifier: Apache-2.0
/// What a late rank did longer than the rank that it is compared with, since they last met.
#pragma once

#include "src/core/attribution/step_ledger.h"
#include "trace/analysis/culprits/compute_cover.h"
#include "trace/analysis/culprits/delays.h"
#include "trace/analysis/waits/split_waits.h"
#include "trace/timeline/recording.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::trace {

/// Kernels of one name on both sides.
struct KernelPair {
  std::int64_t late_count = 0;
  std::int64_t compared_count = 0;
  nanoseconds late_time{};
  nanoseconds compared_time{};
};

/// Differences late - compared of the parts of a window; they sum to `total()`.
struct Excess {
  nanoseconds compute{};
  nanoseconds copies{};
  nanoseconds transfer{};
  nanoseconds waited{};  // for ranks that were late in between
  nanoseconds profiler{};
  nanoseconds other{};       // gaps, dependencies, waiting for nobody known
  nanoseconds unrecorded{};  // lateness from before the recording: the two have not met in it yet
  std::array<nanoseconds, attribution::host_causes> host{};
  std::map<std::uint32_t, nanoseconds> waited_for;  // of `waited`, by rank; the late rank's own
  std::vector<std::pair<std::int64_t, nanoseconds>> upstream;  // its waits: collective, length
  std::map<std::string_view, KernelPair> kernels;

  nanoseconds host_total() const;
  nanoseconds total() const;
};

/// Excess of each delay, absent where it is not among the largest: as many are examined as fit into
/// memory. Two ranks that have not met before in the recording differ by `unrecorded`. By the
/// ledger of both windows, which start when the last collective of both ended, or, where kernels
/// ran on under it, when each rank came to it.
std::vector<std::optional<Excess>> measure_excess(const Job& job,
                                                  const Waits& waits,
                                                  const ClockMap& clocks,
                                                  const std::vector<ComputeCover>& covers,
                                                  const std::vector<Delay>& delays);

}  // namespace scaleworth::trace
