// SPDX-License-Identifier: Apache-2.0
/// The nodes of one rank while the graph is built.
#pragma once

#include "trace/analysis/efficiency/replay_graph.h"
#include "trace/analysis/ledger/rank_view.h"
#include "trace/analysis/waits/split_waits.h"

#include <vector>

namespace scaleworth::trace {

/// Fills an empty graph with one rank's nodes and the edges among them. Refers to what it is made
/// of.
class RankNodes {
 public:
  RankNodes(ReplayGraph& graph, const RankView& view, std::uint32_t rank, TimeInterval window);

  void add();
  /// Communication starts when its rank arrived, which frameworks' timelines show later: by then
  /// all the rank's work before has ended, so that the nodes stay in order. Call before
  /// find_dependencies.
  void arrive(const std::vector<CommunicationSplit>& splits);
  /// Of the communication without matched partners, and of all others, what they waited for on
  /// their own device.
  void find_dependencies();

 private:
  void add_devices();
  void add_hosts();
  void chain_hosts();
  void sort_devices_by_end();
  void find_targets();
  void follow_timers();
  void follow_launch_order();
  void guess_from_ends();
  /// The device node that ended last, not later than `time`; no_index for none.
  NodeIndex last_ended(std::int64_t time) const;
  bool waits_for_device(const HostEvent& event) const;

  ReplayGraph& graph_;
  const RankView& view_;
  std::uint32_t rank_;
  TimeInterval window_;
  std::vector<NodeIndex> by_end_;
  std::vector<NodeIndex> waiting_calls_;
};

}  // namespace scaleworth::trace
