// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/replay_graph.h"

#include "trace/analysis/efficiency/rank_nodes.h"

#include <algorithm>
#include <stdexcept>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

bool everybody_needs_everybody(CollectiveKind kind, std::size_t members) {
  switch (kind) {
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::unknown:
      return false;
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::send_receive:
      return members > 2;
    default:
      return true;
  }
}

struct Member {
  NodeIndex node = no_index;
  std::int64_t split = 0;
};

/// Edges of one collective, all of whose members are in the window.
class CollectiveEdges {
 public:
  CollectiveEdges(ReplayGraph& graph, const std::vector<Member>& members)
      : graph_(graph), members_(members) {}

  void add(CollectiveKind kind) {
    // What the partners make of a grouped call (an all-to-all of sends) is known only here.
    for (const Member& member : members_) node(member).collective = kind;
    if (everybody_needs_everybody(kind, members_.size())) {
      meet();
    } else if (kind == CollectiveKind::send || kind == CollectiveKind::receive ||
               kind == CollectiveKind::send_receive) {
      if (members_.size() == 2) message();
    } else if (kind != CollectiveKind::unknown) {
      one_sided();
    }
  }

 private:
  DeviceNode& node(const Member& member) { return graph_.devices[member.node]; }

  void meet() {
    Meeting meeting;
    for (const Member& member : members_) {
      if (meeting.last == no_index || node(member).start > meeting.latest)
        meeting = {node(member).start, member.node, static_cast<std::uint32_t>(members_.size())};
      node(member).meeting = static_cast<NodeIndex>(graph_.meetings.size());
    }
    graph_.meetings.push_back(meeting);
  }

  void message() {
    for (std::size_t i = 0; i < 2; ++i) {
      DeviceNode& own = node(members_[i]);
      // Who was done before the other came did not need it: a buffer took the data.
      if (own.end > node(members_[1 - i]).start) own.partner = members_[1 - i].node;
    }
  }

  /// Who waited, waited for the member that began when the waiting ended.
  void one_sided() {
    for (const Member& member : members_) {
      if (member.split <= node(member).start) continue;
      for (const Member& other : members_) {
        if (node(other).start == member.split) node(member).partner = other.node;
      }
    }
  }

  ReplayGraph& graph_;
  const std::vector<Member>& members_;
};

void add_collectives(ReplayGraph& graph, const Waits& waits, const std::vector<RankNodes>& ranks) {
  // Members by collective, as one array with a range for each.
  std::vector<std::size_t> offsets(waits.collectives.size() + 1);
  const auto each_member = [&](auto&& visit) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (const CommunicationSplit& split : waits.by_rank[rank]) {
        const NodeIndex node = ranks[rank].node_of(split.event);
        if (split.collective >= 0 && node != no_index)
          visit(static_cast<std::size_t>(split.collective), Member{node, split.split.count()});
      }
    }
  };
  each_member([&](std::size_t collective, const Member&) { ++offsets[collective + 1]; });
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::vector<Member> members(offsets.back());
  std::vector<std::size_t> filled(offsets.begin(), offsets.end() - 1);
  each_member([&](std::size_t collective, const Member& member) {
    members[filled[collective]++] = member;
  });
  std::vector<Member> present;
  for (std::size_t i = 0; i < waits.collectives.size(); ++i) {
    const auto begin = members.begin() + static_cast<std::ptrdiff_t>(offsets[i]);
    const auto end = members.begin() + static_cast<std::ptrdiff_t>(offsets[i + 1]);
    present.assign(begin, end);
    // One that reaches over the window's edge keeps its recorded duration.
    if (present.size() == waits.collectives[i].participants.size())
      CollectiveEdges(graph, present).add(waits.collectives[i].kind);
  }
}

void sort_nodes(ReplayGraph& graph) {
  graph.order.reserve(graph.devices.size() + graph.hosts.size());
  for (NodeIndex i = 0; i < graph.hosts.size(); ++i)
    graph.order.push_back(i | ReplayGraph::host_bit);
  for (NodeIndex i = 0; i < graph.devices.size(); ++i) graph.order.push_back(i);
  const auto start = [&](NodeIndex node) {
    return (node & ReplayGraph::host_bit) != 0 ? graph.hosts[node & ~ReplayGraph::host_bit].start
                                               : graph.devices[node].start;
  };
  // Stable: a call comes before the work that it launches at the same instant.
  std::stable_sort(graph.order.begin(), graph.order.end(), [&](NodeIndex a, NodeIndex b) {
    return start(a) < start(b);
  });
}

}  // namespace

ReplayGraph build_replay_graph(const Job& job,
                               const Waits& waits,
                               const ClockMap& clocks,
                               const EfficiencyWindow& window) {
  std::size_t most = 0;
  for (const Recording& recording : job.recordings)
    most += std::max(recording.device_events.size(), recording.host_events.size());
  if (most >= ReplayGraph::host_bit) throw std::length_error("too many events for a replay");
  ReplayGraph graph;
  std::vector<RankView> views;
  views.reserve(job.recordings.size());  // the nodes of a rank refer to its view
  std::vector<RankNodes> ranks;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    views.emplace_back(job.recordings[rank], clocks, rank);
    ranks.emplace_back(graph, views.back(), static_cast<std::uint32_t>(rank), window.by_rank[rank]);
    ranks.back().add();
    ranks.back().arrive(waits.by_rank[rank]);
    ranks.back().find_dependencies();
  }
  add_collectives(graph, waits, ranks);
  sort_nodes(graph);
  return graph;
}

}  // namespace scaleworth::trace
