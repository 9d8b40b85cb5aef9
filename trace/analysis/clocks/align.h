// SPDX-License-Identifier: Apache-2.0
/// Offsets and drifts of the ranks' clocks, found from collectives that end together.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/analysis/clocks/clock_map.h"
#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

namespace scaleworth::trace {

struct Alignment {
  ClockMap map;
  attribution::ClockReport report;
};

/// Robust fit of one offset, and where the data can tell it a drift, per rank: the ends of a
/// synchronizing collective agree, and nobody ends before the last one begins (hard, as far as the
/// recordings allow it together). Ranks without common collectives make the clocks not comparable.
Alignment align_clocks(const Job& job, const Matching& matching);

}  // namespace scaleworth::trace
