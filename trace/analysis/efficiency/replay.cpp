// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/replay.h"

#include "src/core/process.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace scaleworth::trace {
namespace {
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
/// Beyond all recorded times (2^61), and small enough that adding a difference of two of them does
/// not overflow: contradictory recordings play longer and longer.
constexpr std::int64_t horizon = (std::int64_t{1} << 61) + (std::int64_t{1} << 60);

std::int64_t bounded(std::int64_t time) {
  return std::clamp(time, -horizon, horizon);
}

std::int64_t paced(std::int64_t length, double pace) {
  return pace == 1.0 ? length
                     : saturated<std::int64_t>(std::round(static_cast<double>(length) * pace));
}

/// The latest arrival of all ranks, and that of those which are not excused.
struct Arrivals {
  std::int64_t latest = never;
  std::int64_t awaited = never;   // of ranks that are not excused
  std::int64_t recorded = never;  // of the latest
  std::uint32_t count = 0;

  void add(std::int64_t start, const DeviceNode& node, bool excused) {
    ++count;
    if (start > latest) {
      latest = start;
      recorded = node.start;
    }
    if (!excused) awaited = std::max(awaited, start);
  }

  /// When the last one comes. Of those that are still to come, although a member asks already whose
  /// part had ended, as much later as recorded: a recording that contradicts itself plays longer.
  std::int64_t last(const Meeting& meeting) const {
    return count < meeting.members && count > 0 ? bounded(latest + (meeting.latest - recorded))
                                                : latest;
  }
};

/// The latest cause of a node, as recorded and as replayed.
class Causes {
 public:
  /// `earlier`: by how much the node's rank begins.
  Causes(std::int64_t start, std::int64_t earlier) : start_(start), earlier_(earlier) {}

  void add(std::int64_t recorded, std::int64_t replayed, std::int64_t usual, bool counts = true) {
    if (recorded > start_ + rounding_ns) return;
    const std::int64_t overlap = std::max<std::int64_t>(recorded - start_, 0);
    recorded -= overlap;
    replayed -= overlap;
    const std::int64_t delay = std::min(usual, start_ - recorded);
    recorded_ = std::max(recorded_, recorded + delay);
    if (counts) replayed_ = std::max(replayed_, replayed + delay);
  }

  /// When the node begins in the replay; `otherwise` where no cause is left. `pace`: of what no
  /// cause explains.
  std::int64_t start(std::int64_t otherwise, double pace) const {
    if (recorded_ == never) return start_ - earlier_;
    return replayed_ == never ? otherwise - earlier_
                              : bounded(replayed_ + paced(start_ - recorded_, pace));
  }

 private:
  std::int64_t start_;
  std::int64_t earlier_;
  std::int64_t recorded_ = never;
  std::int64_t replayed_ = never;
};

class Replay {
 public:
  Replay(const ReplayGraph& graph, const Change& change)
      : graph_(graph), change_(change), arrivals_(graph.meetings.size()) {
    device_starts_.reserve(graph.devices.size());
    for (const DeviceNode& node : graph.devices) device_starts_.push_back(node.start);
    host_starts_.reserve(graph.hosts.size());
    for (const HostNode& node : graph.hosts)
      host_starts_.push_back(node.start - change.earlier_of(node.rank));
  }

  std::vector<std::int64_t> run(ReplayedTimes* times) {
    std::size_t count = 0;
    for (const NodeIndex node : graph_.order) {
      if (count++ % interrupt_every == 0) check_interrupt();
      if ((node & ReplayGraph::host_bit) != 0) {
        begin_host(node & ~ReplayGraph::host_bit);
      } else {
        begin_device(node);
      }
    }
    std::vector<std::int64_t> ends;
    for (const RankSpan& span : graph_.ranks) {
      std::int64_t last = span.empty() ? span.end : never;
      for (NodeIndex node = span.first; node < span.last; ++node)
        last = std::max(last, device_end(node));
      ends.push_back(last);
    }
    if (times == nullptr) return ends;
    for (NodeIndex node = 0; node < graph_.devices.size(); ++node)
      times->devices.push_back({device_starts_[node], device_end(node)});
    for (NodeIndex node = 0; node < graph_.hosts.size(); ++node)
      times->hosts.push_back({host_starts_[node], host_end(node)});
    return ends;
  }

 private:
  void begin_host(NodeIndex index) {
    const HostNode& node = graph_.hosts[index];
    if (node.before == no_index) return;
    const double pace = change_.host.empty() ? 1.0 : change_.host[node.rank];
    const std::int64_t pause = node.start - graph_.hosts[node.before].end;
    host_starts_[index] = bounded(host_end(node.before) + paced(pause, pace * change_.host_pace));
  }

  std::int64_t host_end(NodeIndex index) const {
    const HostNode& node = graph_.hosts[index];
    const std::int64_t length = node.end - node.start;
    const double pace = change_.host_pace;
    if (node.target == no_index) return bounded(host_starts_[index] + paced(length, pace));
    const std::int64_t released =
        device_end(node.target) + paced(node.end - graph_.devices[node.target].end, pace);
    const std::int64_t own = paced(std::min(length, usual_call_ns), pace);
    return bounded(std::max(host_starts_[index] + own, released));
  }

  void begin_device(NodeIndex index) {
    const DeviceNode& node = graph_.devices[index];
    Causes causes(node.start, change_.earlier_of(node.rank));
    if (node.before != no_index)
      causes.add(graph_.devices[node.before].end, device_end(node.before), usual_stream_ns);
    if (node.awaits != no_index)
      causes.add(graph_.devices[node.awaits].end, device_end(node.awaits), usual_event_ns);
    if (node.launch != no_index && change_.no_host_delay) add_blocking_work(node, causes);
    if (node.launch != no_index)
      causes.add(graph_.hosts[node.launch].start,
                 host_starts_[node.launch],
                 usual_launch_ns,
                 !change_.no_host_delay);
    device_starts_[index] = causes.start(graph_.ranks[node.rank].start,
                                         node.launch == no_index ? change_.host_pace : 1.0);
    if (node.meeting != no_index)
      arrivals_[node.meeting].add(device_starts_[index], node, change_.excuses(node.rank));
  }

  /// A host that waits for what it launches cannot launch the next work before that has ended.
  void add_blocking_work(const DeviceNode& node, Causes& causes) const {
    const NodeIndex before = graph_.hosts[node.launch].before;
    const NodeIndex target = before == no_index ? no_index : graph_.hosts[before].target;
    if (target == no_index || graph_.devices[target].launch != before) return;
    causes.add(graph_.devices[target].end, device_end(target), usual_launch_ns);
  }

  std::int64_t device_end(NodeIndex index) const {
    const DeviceNode& node = graph_.devices[index];
    const std::int64_t start = device_starts_[index];
    if (node.kind != DeviceNode::Kind::communication) return bounded(start + work(node));
    if (change_.no_communication)
      return node.partner == no_index ? start : std::max(start, partner_start(node));
    if (node.meeting != no_index) return meeting_end(index);
    const std::int64_t awaited = node.partner == no_index ? never : partner_start(node);
    return bounded(std::max(start, awaited) + transfer(node));
  }

  std::int64_t meeting_end(NodeIndex index) const {
    const DeviceNode& node = graph_.devices[index];
    const Arrivals& arrivals = arrivals_[node.meeting];
    const Meeting& meeting = graph_.meetings[node.meeting];
    std::int64_t awaited = arrivals.last(meeting);
    std::int64_t own = device_starts_[index];
    if (arrivals.awaited < arrivals.latest && arrivals.awaited != never) {
      awaited = arrivals.awaited;
      if (change_.excuses(node.rank)) own = std::min(own, awaited);
    }
    return bounded(std::max(own, awaited) + transfer(node));
  }

  std::int64_t partner_start(const DeviceNode& node) const {
    return change_.excuses(graph_.devices[node.partner].rank) ? never
                                                              : device_starts_[node.partner];
  }

  std::int64_t work(const DeviceNode& node) const {
    double pace = change_.pace(node);
    if (node.kind == DeviceNode::Kind::compute) {
      const bool as_peers = node.rank < change_.as_peers.size() && change_.as_peers[node.rank];
      if (change_.typical_pieces || as_peers) pace *= node.typical;
      if (!change_.compute.empty() && !as_peers) pace *= change_.compute[node.rank];
    }
    return paced(node.end - node.start, pace);
  }

  std::int64_t transfer(const DeviceNode& node) const {
    return change_.no_transfer ? 0 : paced(recorded_length(graph_, node), change_.pace(node));
  }

  const ReplayGraph& graph_;
  const Change& change_;
  std::vector<std::int64_t> device_starts_;
  std::vector<std::int64_t> host_starts_;
  std::vector<Arrivals> arrivals_;
};
}  // namespace

std::vector<std::int64_t> replay(const ReplayGraph& graph,
                                 const Change& change,
                                 ReplayedTimes* times) {
  return Replay(graph, change).run(times);
}

std::int64_t recorded_length(const ReplayGraph& graph, const DeviceNode& node) {
  if (node.kind != DeviceNode::Kind::communication) return node.end - node.start;
  const std::int64_t awaited = node.meeting != no_index   ? graph.meetings[node.meeting].latest
                               : node.partner != no_index ? graph.devices[node.partner].start
                                                          : node.start;
  return node.end - std::clamp(awaited, node.start, node.end);
}

std::vector<std::int64_t> recorded_ends(const ReplayGraph& graph) {
  return mapped(graph.ranks, &RankSpan::end);
}

std::vector<std::uint32_t> awaited_ranks(const ReplayGraph& graph, const Change& change) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
    if (!change.excuses(rank) && !graph.ranks[rank].empty()) ranks.push_back(rank);
  return ranks;
}

std::optional<std::int64_t> last_end(const ReplayGraph& graph,
                                     const Change& change,
                                     const std::vector<std::int64_t>& ends) {
  std::optional<std::int64_t> last;
  for (const std::uint32_t rank : awaited_ranks(graph, change))
    last = std::max(last.value_or(ends[rank]), ends[rank]);
  return last;
}

std::vector<NodeIndex> nodes_by_start(const ReplayGraph& graph) {
  std::vector<NodeIndex> order(graph.hosts.size() + graph.devices.size());
  const auto at = [&](std::size_t place) { return order.begin() + place; };
  std::iota(order.begin(), at(graph.hosts.size()), ReplayGraph::host_bit);
  std::iota(at(graph.hosts.size()), order.end(), NodeIndex{0});
  const auto start = [&](NodeIndex node) {
    return (node & ReplayGraph::host_bit) != 0 ? graph.hosts[node & ~ReplayGraph::host_bit].start
                                               : graph.devices[node].start;
  };
  std::vector<std::size_t> bounds{0};  // of the ascending stretches
  for (std::size_t place = 1; place < order.size(); ++place)
    if (start(order[place]) < start(order[place - 1])) bounds.push_back(place);
  bounds.push_back(order.size());
  while (bounds.size() > 2) {
    for_each_index((bounds.size() - 1) / 2, [&](std::size_t pair) {
      check_interrupt();
      std::ranges::inplace_merge(
          at(bounds[2 * pair]), at(bounds[2 * pair + 1]), at(bounds[2 * pair + 2]), {}, start);
    });
    std::vector<std::size_t> fewer;
    for (std::size_t i = 0; i < bounds.size(); i += 2) fewer.push_back(bounds[i]);
    if (bounds.size() % 2 == 0) fewer.push_back(order.size());
    bounds = std::move(fewer);
  }
  return order;
}
}  // namespace scaleworth::trace
