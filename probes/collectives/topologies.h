// SPDX-License-Identifier: Apache-2.0
/// Which groups of ranks are worth measuring on their own: those whose path differs.
#pragma once

#include "probes/ranks.h"

#include <string>
#include <vector>

namespace scaleworth::probes {

struct RankTopology {
  std::string name;          // "all ranks", "pair, NVLink", "NUMA node 1", ...
  std::vector<int> members;  // at least two, ascending
};

/// In this order, without groups that have the same members as an earlier one:
///   all ranks; the first 2, 4, 8, ... of them where every pair is linked alike;
///   the ranks of the first node, where there are several;
///   one pair for each kind of link: its kind, its place in the driver's order, within or across
///   NUMA nodes;
///   NVLink islands: ranks of a node of which each two are linked by NVLink, one per size from 3;
///   the ranks of a NUMA node, one per size from 3.
/// Without knowledge of links (`links` empty): all ranks. Empty below two ranks.
std::vector<RankTopology> topologies(const RankLinks& links, int size);

}  // namespace scaleworth::probes
