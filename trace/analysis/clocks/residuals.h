// SPDX-License-Identifier: Apache-2.0
/// How well clocks agree once they are aligned.
#pragma once

#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/clocks/meetings.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleworth::trace {

struct ClockResiduals {
  struct OfRank {
    std::optional<nanoseconds> p50;
    std::optional<nanoseconds> p95;
    std::int64_t matches = 0;
  };
  std::vector<OfRank> by_rank;
  std::optional<nanoseconds> p50;  // of all ranks together
  std::optional<nanoseconds> p95;
};

/// A residual is the distance of one rank's end of a collective from the median of the others'
/// ends; quantiles weigh collectives as the fit does.
ClockResiduals clock_residuals(const Meetings& meetings, const ClockMap& clocks);

}  // namespace scaleworth::trace
