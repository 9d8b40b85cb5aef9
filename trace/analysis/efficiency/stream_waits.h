// SPDX-License-Identifier: Apache-2.0
/// Events between the streams of a device: work that had been told to wait for other work.
#pragma once

#include "trace/analysis/efficiency/replay_graph.h"
#include "trace/analysis/ledger/rank_view.h"

namespace scaleworth::trace {

/// Sets DeviceNode::awaits of a graph of one rank from the recorded calls of cudaStreamWaitEvent:
/// the first work launched on the waiting stream afterwards awaits the last work launched on the
/// other stream before the event was recorded. Of several waits, the one whose work ended last.
/// False when the recording has no such calls, so that nothing is known.
bool add_stream_waits(ReplayGraph& graph, const RankView& view);

}  // namespace scaleworth::trace
