// SPDX-License-Identifier: Apache-2.0
/// Which collectives, sizes, modes and algorithms of NCCL a suite measures, and how long that
/// takes.
#pragma once

#include "probes/collectives/topologies.h"
#include "probes/ranks.h"
#include "probes/suite.h"
#include "src/core/statistics/stopping_rule.h"
#include "src/core/units.h"

#include <map>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// What a plan is made from.
struct NcclPlanning {
  Suite suite = Suite::quick;
  Bytes memory_per_rank;
  bool shared_gpu = false;  // plumbing: few and small messages
};

/// The ways that NCCL offers for a collective.
using OfferedWays = std::map<Collective, std::vector<CollectiveAlgorithm>>;

/// NCCL's own choice among the ranks of `topology`, in random order. All ranks: every collective at
/// sizes from 8 B to 1 GiB (quick) or 16 GiB (standard) or what memory holds, isolated; to 1 GiB
/// back to back (quick: all_reduce only), and all_reduce (standard: all_gather and reduce_scatter
/// too) as a graph, in place and with registered buffers. Other topologies: all_reduce and
/// send_receive (standard: all_gather and reduce_scatter too), isolated.
std::vector<CollectiveWork> plan_choice(const RankTopology& topology, const NcclPlanning& planning);

/// Each offered way forced on a thinner grid of sizes, isolated, in random order.
std::vector<CollectiveWork> plan_forced(const RankTopology& topology,
                                        const OfferedWays& ways,
                                        const NcclPlanning& planning);

StoppingTarget nccl_target(const CollectiveWork& work, const NcclPlanning& planning);

/// Of one setting with its preparation and verification, at the rates named in the source.
Seconds nccl_setting_time(const CollectiveWork& work, const NcclPlanning& planning);
/// Making the communicators of one topology.
Seconds nccl_team_time(int ranks);

}  // namespace scaleworth::probes
