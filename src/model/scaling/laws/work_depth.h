// SPDX-License-Identifier: Apache-2.0
/// The bounds that work and depth put on a time, whatever the schedule.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

namespace scaleworth::model {

/// `work`: time of all operations at one rank; `depth`: of the longest chain that depends on
/// itself.
struct WorkDepth {
  Seconds work;
  Seconds depth;
};

/// max(W/p, D) <= T_p <= W/p + D for greedy scheduling; a measured time above it is overhead that
/// no dependency explains: communication, imbalance, host. Source: Brent, JACM 21 (1974). Throws
/// UserError for work or depth that is not positive, depth above work, or a count below one.
Interval<Seconds> work_depth_bounds(const WorkDepth& of, int ranks);

/// W / D: the speed-up that no count exceeds.
double parallelism(const WorkDepth& of);

}  // namespace scaleworth::model
