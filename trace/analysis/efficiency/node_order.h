// SPDX-License-Identifier: Apache-2.0
/// The order in which the nodes of a graph began.
#pragma once

#include "trace/analysis/efficiency/replay_graph.h"

#include <vector>

namespace scaleworth::trace {

/// All nodes by recorded start, hosts with ReplayGraph::host_bit; of equal ones calls before the
/// work that they launch, then by index. Nodes of a rank come nearly in order: ascending stretches
/// are merged, in pieces of the time on all processors. O(n log s) for n nodes in s stretches;
/// holds 4 bytes per node, and 2 MB for each piece at work.
std::vector<NodeIndex> nodes_by_start(const ReplayGraph& graph);

}  // namespace scaleworth::trace
