// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/efficiency/replay.h"

#include <map>
#include <stdexcept>

namespace scaleworth::trace {
namespace {
struct Member {
  NodeIndex node = no_index;
  std::int64_t split = 0;
};

/// No transfer of the members begins before the last of them has come.
void add_meeting(ReplayGraph& graph, const std::vector<Member>& members) {
  Meeting meeting;
  for (const Member& member : members) {
    DeviceNode& node = graph.devices[member.node];
    if (meeting.last == no_index || node.start > meeting.latest)
      meeting = {node.start, member.node, static_cast<std::uint32_t>(members.size())};
    node.meeting = static_cast<NodeIndex>(graph.meetings.size());
  }
  graph.meetings.push_back(meeting);
}

/// Edges of a message: a member that was done before the other came did not need it, because a
/// buffer took the data.
void add_message(ReplayGraph& graph, const std::vector<Member>& members) {
  for (const Member& member : members) {
    DeviceNode& own = graph.devices[member.node];
    for (const Member& other : members) {
      const DeviceNode& partner = graph.devices[other.node];
      if (own.rank != partner.rank && own.end > partner.start) own.partner = other.node;
    }
  }
}

/// Edges of a one-sided collective: who waited, waited for the member that began when the waiting
/// ended.
void add_one_sided(ReplayGraph& graph, const std::vector<Member>& members) {
  std::unordered_map<std::int64_t, NodeIndex> by_start;
  for (const Member& member : members)
    by_start[graph.devices[member.node].start] = member.node;  // of equals the last
  for (const Member& member : members) {
    DeviceNode& own = graph.devices[member.node];
    if (member.split <= own.start) continue;
    if (const NodeIndex* other = value_at(by_start, member.split)) own.partner = *other;
  }
}

/// Edges of one collective, all of whose members are in the window.
void add_collective(ReplayGraph& graph, const std::vector<Member>& members, CollectiveKind kind) {
  const Exchange exchange = exchange_of(kind);
  if (exchange == Exchange::unknown) return;
  if (exchange == Exchange::all || (exchange == Exchange::message && members.size() > 2))
    return add_meeting(graph, members);
  if (exchange == Exchange::message) return add_message(graph, members);
  add_one_sided(graph, members);
}

void add_collectives(ReplayGraph& graph, const Waits& waits) {
  std::vector<std::vector<Member>> members(waits.collectives.size());
  for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank) {
    for (const CommunicationSplit& split : waits.by_rank[rank]) {
      const NodeIndex node = graph.node_of(rank, split.event);
      if (split.collective >= 0 && node != no_index)
        members[split.collective].push_back({node, split.split.count()});
    }
  }
  // One that reaches over the window's edge keeps its recorded duration.
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].size() == waits.collectives[i].participants.size())
      add_collective(graph, members[i], waits.collectives[i].kind);
}

/// Which work of other ranks ended just before the work of one name and rank began, after a gap.
struct GapCauses {
  std::size_t gaps = 0;
  std::map<std::uint32_t, std::vector<std::pair<NodeIndex, NodeIndex>>> by_rank;  // work, cause
};

/// Waiting for another rank that a framework's timeline shows only as a gap: see
/// build_replay_graph.
void add_unrecorded_waits(ReplayGraph& graph, const Job& job) {
  // Presumed: launches leave gaps of some 10 us; a shorter bound would make waits of them.
  constexpr std::int64_t shortest_gap_ns = 100'000;
  constexpr std::int64_t gap_per_lag = 10;  // so much longer is a wait than how late it is noticed
  constexpr int most_candidates = 16;       // ends of other ranks looked at for each gap: for time
  std::vector<std::pair<std::int64_t, NodeIndex>> ends;
  for (NodeIndex index = 0; index < graph.devices.size(); ++index)
    if (job.recordings[graph.devices[index].rank].origin.framework_timeline)
      ends.emplace_back(graph.devices[index].end, index);
  std::ranges::sort(ends);
  std::map<std::pair<std::uint32_t, NameId>, GapCauses> kinds;
  for (NodeIndex index = 0; index < graph.devices.size() && !ends.empty(); ++index) {
    const DeviceNode& node = graph.devices[index];
    if (node.awaits == no_index) continue;
    const Recording& recording = job.recordings[node.rank];
    const std::int64_t gap = node.start - graph.devices[node.awaits].end;
    if (!recording.origin.framework_timeline || gap < shortest_gap_ns) continue;
    GapCauses& kind = kinds[{node.rank, recording.device_events[node.event].name}];
    ++kind.gaps;
    auto cause = std::ranges::upper_bound(ends, std::pair(node.start, no_index));
    for (int tries = most_candidates; cause != ends.begin() && tries > 0; --tries) {
      if ((--cause)->first < node.start - gap / gap_per_lag) break;
      const std::uint32_t other = graph.devices[cause->second].rank;
      auto& found = kind.by_rank[other];
      if (other != node.rank && (found.empty() || found.back().first != index))
        found.emplace_back(index, cause->second);
    }
  }
  for (const auto& [key, kind] : kinds) {
    const auto best = std::ranges::max_element(
        kind.by_rank, {}, [](const auto& of_rank) { return of_rank.second.size(); });
    if (best == kind.by_rank.end() || 3 * best->second.size() < 2 * kind.gaps) continue;
    for (const auto& [node, cause] : best->second)
      graph.devices[node].before = std::exchange(graph.devices[node].awaits, cause);
  }
}

/// Appends a rank's nodes.
void append_rank(ReplayGraph& all, const ReplayGraph& rank) {
  const auto first_device = static_cast<NodeIndex>(all.devices.size());
  const auto first_host = static_cast<NodeIndex>(all.hosts.size());
  const auto moved = [](NodeIndex node, NodeIndex by) {
    return node == no_index ? no_index : node + by;
  };
  for (DeviceNode node : rank.devices) {
    node.before = moved(node.before, first_device);
    node.awaits = moved(node.awaits, first_device);
    node.launch = moved(node.launch, first_host);
    all.devices.push_back(node);
  }
  for (HostNode node : rank.hosts) {
    node.before = moved(node.before, first_host);
    node.target = moved(node.target, first_device);
    all.hosts.push_back(node);
  }
  RankSpan span = rank.ranks.front();
  span.first = first_device;
  span.last = static_cast<NodeIndex>(all.devices.size());
  all.ranks.push_back(span);
}

/// One graph of all ranks' nodes; frees what it has taken.
ReplayGraph put_together(std::vector<ReplayGraph>& ranks) {
  ReplayGraph graph;
  std::size_t devices = 0;
  std::size_t hosts = 0;
  for (const ReplayGraph& rank : ranks) {
    devices += rank.devices.size();
    hosts += rank.hosts.size();
  }
  graph.devices.reserve(devices);
  graph.hosts.reserve(hosts);
  for (ReplayGraph& rank : ranks) {
    check_interrupt();
    append_rank(graph, rank);
    rank = {};
  }
  return graph;
}
/// Work of one stream in the order of its launches, which is the order of its execution.
struct StreamWork {
  std::vector<std::int64_t> launched;
  std::vector<NodeIndex> nodes;
};

using Streams = std::unordered_map<std::uint32_t, StreamWork>;

struct StreamWait {
  std::int64_t time = 0;     // of the call
  std::uint32_t stream = 0;  // that waits
  std::uint32_t waits_on = 0;
  std::uint64_t record = 0;  // correlation of the cudaEventRecord, 0 when unknown
};

Streams launched_work(const ReplayGraph& graph, const RankView& view) {
  Streams streams;
  for (NodeIndex index = 0; index < graph.devices.size(); ++index) {
    const DeviceNode& node = graph.devices[index];
    if (node.launch == no_index) continue;
    StreamWork& work = streams[view.recording().device_events[node.event].stream];
    const std::int64_t launched = graph.hosts[node.launch].start;
    // A call on another thread may be a little out of order; the search needs order.
    work.launched.push_back(work.launched.empty() ? launched
                                                  : std::max(launched, work.launched.back()));
    work.nodes.push_back(index);
  }
  return streams;
}

std::vector<StreamWait> recorded_waits(const RankView& view) {
  std::vector<StreamWait> waits;
  const Recording& recording = view.recording();
  for (const HostEvent& event : recording.host_events) {
    const Synchronization* one = synchronization_of(recording, event);
    if (one != nullptr && one->kind == Synchronization::Kind::stream_wait_event && one->stream &&
        one->waits_on)
      waits.push_back(
          {view.start(event).count(), *one->stream, *one->waits_on, one->event_record.value_or(0)});
  }
  return waits;
}

/// When the events were recorded, by the call's correlation.
std::unordered_map<std::uint64_t, std::int64_t> record_times(const RankView& view,
                                                             const std::vector<StreamWait>& waits) {
  std::unordered_map<std::uint64_t, std::int64_t> times;
  for (const StreamWait& wait : waits)
    if (wait.record != 0) times.emplace(wait.record, wait.time);
  if (times.empty()) return times;
  for (const HostEvent& event : view.recording().host_events) {
    if (event.correlation == 0 || event.activity == HostActivity::synchronization) continue;
    if (auto* time = value_at(times, event.correlation)) *time = view.start(event).count();
  }
  return times;
}
}  // namespace

NodeIndex ReplayGraph::node_of(std::size_t rank, std::uint32_t event) const {
  const RankSpan& span = ranks[rank];
  if (span.empty() || event < devices[span.first].event) return no_index;
  const std::uint32_t place = event - devices[span.first].event;
  return place < span.last - span.first ? span.first + place : no_index;
}

ReplayGraph build_replay_graph(const Job& job,
                               const Waits& waits,
                               const ClockMap& clocks,
                               const EfficiencyWindow& window) {
  std::size_t most = 0;
  for (const Recording& recording : job.recordings)
    most += std::max(recording.device_events.size(), recording.host_events.size());
  if (most >= ReplayGraph::host_bit) throw std::length_error("too many events for a replay");
  std::vector<ReplayGraph> ranks(job.recordings.size());
  for_each_index(ranks.size(), [&](std::size_t rank) {
    const RankView view(job.recordings[rank], clocks, rank);
    ranks[rank] = rank_graph(
        view, waits.by_rank[rank], static_cast<std::uint32_t>(rank), window.by_rank[rank]);
  });
  ReplayGraph graph = put_together(ranks);
  graph.window = window.whole;
  graph.of_steps = window.of_steps;
  add_collectives(graph, waits);
  add_unrecorded_waits(graph, job);
  graph.order = nodes_by_start(graph);
  return graph;
}

bool add_stream_waits(ReplayGraph& graph, const RankView& view) {
  const std::vector<StreamWait> waits = recorded_waits(view);
  if (waits.empty()) return false;
  const Streams streams = launched_work(graph, view);
  const auto records = record_times(view, waits);
  for (const StreamWait& wait : waits) {
    const auto waiting = streams.find(wait.stream);
    const auto awaited = streams.find(wait.waits_on);
    if (waiting == streams.end() || awaited == streams.end()) continue;
    const auto record = records.find(wait.record);
    const std::int64_t until = record == records.end() ? wait.time : record->second;
    const StreamWork& work = awaited->second;
    const auto last = std::ranges::upper_bound(work.launched, until);
    const StreamWork& next = waiting->second;
    const auto first = std::ranges::lower_bound(next.launched, wait.time);
    if (last == work.launched.begin() || first == next.launched.end()) continue;
    const NodeIndex cause = work.nodes[static_cast<std::size_t>(last - work.launched.begin()) - 1];
    DeviceNode& effect = graph.devices[next.nodes[first - next.launched.begin()]];
    const std::int64_t end = graph.devices[cause].end;
    const bool later = effect.awaits == no_index || end > graph.devices[effect.awaits].end;
    if (end <= effect.start && later) effect.awaits = cause;
  }
  return true;
}
}  // namespace scaleworth::trace
