// SPDX-License-Identifier: Apache-2.0
/// Which collectives, sizes, rank counts and modes a suite measures, and how long that takes.
#pragma once

#include "probes/ranks.h"
#include "probes/suite.h"
#include "src/core/statistics/stopping_rule.h"
#include "src/core/units.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

struct SweepPlan {
  /// In the order of measurement: all settings in one random order, the same on every rank, so that
  /// a drift of the machine does not look like an effect of size.
  std::vector<CollectiveWork> settings;
  /// Sizes left out for lack of memory, in words; empty for none.
  std::string left_out;
};

/// 2, 4, 8, ... and `size` itself; empty for one rank.
std::vector<int> rank_counts(int size);

/// Sizes from 8 B: standard every power of 2 up to 256 MiB, quick every fourth power up to 64 MiB.
/// Two sizes that become one after rounding to whole elements are measured once. Both buffers of a
/// rank must fit into half of `memory_per_rank`.
SweepPlan plan_sweep(Suite suite, int size, Bytes memory_per_rank);

/// How long one setting may take: at least 20 samples of small messages and 6 of large ones, the
/// fewest with a 95 % interval of their median, and more while the budget lasts.
StoppingTarget sweep_target(const CollectiveWork& work, Suite suite);

/// Expected duration of one setting with its preparation and verification, from the rates of
/// shared memory on one node named in the source.
Seconds expected_time(const CollectiveWork& work, Suite suite);

}  // namespace scaleworth::probes
