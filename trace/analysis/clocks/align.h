// SPDX-License-Identifier: Apache-2.0
/// Offsets and drifts of the ranks' clocks, found from collectives that end together.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <vector>

namespace scaleworth::trace {

struct Alignment {
  ClockMap map;
  attribution::ClockReport report;
  /// By rank: equal numbers for ranks whose times can be compared. Empty: all can.
  std::vector<std::uint32_t> component;

  bool share_a_clock(std::uint32_t a, std::uint32_t b) const {
    return component.empty() || component.at(a) == component.at(b);
  }
};

/// Robust fit of one offset, and where the data can tell it a drift, per rank: the ends of a
/// synchronizing collective agree, and nobody ends before the last one begins (hard, as far as the
/// recordings allow it together). Ranks without common collectives make the clocks not comparable.
Alignment align_clocks(const Job& job, const Matching& matching);

}  // namespace scaleworth::trace
