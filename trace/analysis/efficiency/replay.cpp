// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/replay.h"

#include "src/core/process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace scaleworth::trace {
namespace {
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t interrupt_every = std::size_t{1} << 20;
/// Beyond all recorded times (2^61), and small enough that adding a difference of two of them does
/// not overflow: contradictory recordings play longer and longer.
constexpr std::int64_t horizon = (std::int64_t{1} << 61) + (std::int64_t{1} << 60);

std::int64_t bounded(std::int64_t time) {
  return std::clamp(time, -horizon, horizon);
}

/// The two latest arrivals of different ranks.
struct Arrivals {
  std::int64_t latest = never;
  std::int64_t second = never;
  std::int64_t recorded = never;  // of the latest
  std::uint32_t rank = 0;
  std::uint32_t count = 0;

  void add(std::int64_t start, const DeviceNode& node) {
    ++count;
    if (start > latest) {
      second = latest;
      latest = start;
      recorded = node.start;
      rank = node.rank;
    } else {
      second = std::max(second, start);
    }
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
  explicit Causes(std::int64_t start) : start_(start) {}

  void add(std::int64_t recorded, std::int64_t replayed, std::int64_t usual, bool counts = true) {
    if (recorded > start_) return;
    const std::int64_t delay = std::min(usual, start_ - recorded);
    recorded_ = std::max(recorded_, recorded + delay);
    if (counts) replayed_ = std::max(replayed_, replayed + delay);
  }

  /// When the node begins in the replay; `otherwise` where no cause is left.
  std::int64_t start(std::int64_t otherwise) const {
    if (recorded_ == never) return start_;
    return replayed_ == never ? otherwise : bounded(replayed_ + (start_ - recorded_));
  }

 private:
  std::int64_t start_;
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
    for (const HostNode& node : graph.hosts) host_starts_.push_back(node.start);
  }

  std::int64_t run() {
    std::size_t count = 0;
    for (const NodeIndex node : graph_.order) {
      if (count++ % interrupt_every == 0) check_interrupt();
      if ((node & ReplayGraph::host_bit) != 0) {
        begin_host(node & ~ReplayGraph::host_bit);
      } else {
        begin_device(node);
      }
    }
    std::int64_t last = never;
    for (NodeIndex node = 0; node < graph_.devices.size(); ++node) {
      if (change_.on_time != graph_.devices[node].rank) last = std::max(last, device_end(node));
    }
    return last;
  }

 private:
  void begin_host(NodeIndex index) {
    const HostNode& node = graph_.hosts[index];
    if (node.before == no_index) return;
    host_starts_[index] =
        bounded(host_end(node.before) + (node.start - graph_.hosts[node.before].end));
  }

  std::int64_t host_end(NodeIndex index) const {
    const HostNode& node = graph_.hosts[index];
    const std::int64_t length = node.end - node.start;
    if (node.target == no_index) return bounded(host_starts_[index] + length);
    const std::int64_t released =
        device_end(node.target) + (node.end - graph_.devices[node.target].end);
    return bounded(std::max(host_starts_[index] + std::min(length, usual_call_ns), released));
  }

  void begin_device(NodeIndex index) {
    const DeviceNode& node = graph_.devices[index];
    Causes causes(node.start);
    if (node.before != no_index)
      causes.add(graph_.devices[node.before].end, device_end(node.before), usual_stream_ns);
    if (node.awaits != no_index)
      causes.add(graph_.devices[node.awaits].end, device_end(node.awaits), usual_event_ns);
    if (node.launch != no_index)
      causes.add(graph_.hosts[node.launch].start,
                 host_starts_[node.launch],
                 usual_launch_ns,
                 !change_.no_host_delay);
    device_starts_[index] = causes.start(graph_.ranks[node.rank].start);
    if (node.meeting != no_index) arrivals_[node.meeting].add(device_starts_[index], node);
  }

  std::int64_t device_end(NodeIndex index) const {
    const DeviceNode& node = graph_.devices[index];
    const std::int64_t start = device_starts_[index];
    if (node.kind != DeviceNode::Kind::communication) return bounded(start + work(node));
    if (change_.no_communication)
      return node.partner == no_index ? start : std::max(start, partner_start(node));
    if (node.meeting != no_index) return meeting_end(index);
    const std::int64_t recorded =
        node.partner == no_index ? node.start : graph_.devices[node.partner].start;
    const std::int64_t awaited = node.partner == no_index ? never : partner_start(node);
    return bounded(std::max(start, awaited) + transfer(node, recorded));
  }

  std::int64_t meeting_end(NodeIndex index) const {
    const DeviceNode& node = graph_.devices[index];
    const Arrivals& arrivals = arrivals_[node.meeting];
    const Meeting& meeting = graph_.meetings[node.meeting];
    std::int64_t awaited = arrivals.last(meeting);
    std::int64_t own = device_starts_[index];
    if (change_.on_time == arrivals.rank && arrivals.second != never) {
      awaited = arrivals.second;
      if (change_.on_time == node.rank) own = awaited;
    }
    return bounded(std::max(own, awaited) + transfer(node, meeting.latest));
  }

  std::int64_t partner_start(const DeviceNode& node) const {
    return change_.on_time == graph_.devices[node.partner].rank ? never
                                                                : device_starts_[node.partner];
  }

  std::int64_t work(const DeviceNode& node) const {
    const std::int64_t recorded = node.end - node.start;
    if (node.kind != DeviceNode::Kind::compute || change_.compute.empty()) return recorded;
    return std::llround(static_cast<double>(recorded) * change_.compute[node.rank]);
  }

  std::int64_t transfer(const DeviceNode& node, std::int64_t awaited) const {
    if (change_.no_transfer) return 0;
    return node.end - std::clamp(awaited, node.start, node.end);
  }

  const ReplayGraph& graph_;
  Change change_;
  std::vector<std::int64_t> device_starts_;
  std::vector<std::int64_t> host_starts_;
  std::vector<Arrivals> arrivals_;
};
}  // namespace

std::optional<std::int64_t> replay(const ReplayGraph& graph, const Change& change) {
  if (!recorded_end(graph, change)) return std::nullopt;
  return Replay(graph, change).run();
}

std::optional<std::int64_t> recorded_end(const ReplayGraph& graph, const Change& change) {
  std::optional<std::int64_t> last;
  for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
    const RankSpan& span = graph.ranks[rank];
    if (change.on_time != rank && !span.empty()) last = std::max(last.value_or(span.end), span.end);
  }
  return last;
}

namespace {
constexpr std::size_t nodes_per_piece = 1U << 16;
/// Of so many stretches each piece would hold next to nothing.
constexpr std::size_t most_stretches_in_pieces = 1024;

/// Nodes of one kind whose starts ascend with their index.
struct Stretch {
  NodeIndex first = 0;
  NodeIndex last = 0;  // the one behind it
  bool hosts = false;
};

/// Start, and the node with the bit turned round so that hosts come first.
using Key = std::pair<std::int64_t, NodeIndex>;

template <class Nodes>
void add_stretches(const Nodes& nodes, bool hosts, std::vector<Stretch>& stretches) {
  for (NodeIndex first = 0; first < nodes.size();) {
    NodeIndex last = first + 1;
    while (last < nodes.size() && nodes[last - 1].start <= nodes[last].start) ++last;
    stretches.push_back({first, last, hosts});
    first = last;
  }
}

class NodeOrder {
 public:
  explicit NodeOrder(const ReplayGraph& graph) : graph_(graph) {
    add_stretches(graph.hosts, true, stretches_);
    add_stretches(graph.devices, false, stretches_);
  }

  std::vector<NodeIndex> find() {
    cut();
    std::vector<NodeIndex> order(graph_.hosts.size() + graph_.devices.size());
    std::vector<std::size_t> places{0};
    for (std::size_t piece = 0; piece + 1 < cuts_.size(); ++piece) {
      std::size_t nodes = places.back();
      for (std::size_t i = 0; i < stretches_.size(); ++i)
        nodes += cuts_[piece + 1][i] - cuts_[piece][i];
      places.push_back(nodes);
    }
    for_each_index(places.size() - 1, [&](std::size_t piece) {
      check_interrupt();
      auto place = order.begin() + static_cast<std::ptrdiff_t>(places[piece]);
      for (const Key& key : keys(piece)) *place++ = key.second ^ ReplayGraph::host_bit;
    });
    return order;
  }

 private:
  std::int64_t start(const Stretch& stretch, NodeIndex node) const {
    return stretch.hosts ? graph_.hosts[node].start : graph_.devices[node].start;
  }

  /// Where each piece begins in every stretch: equal starts are all in one piece.
  void cut() {
    cuts_.emplace_back();
    for (const Stretch& stretch : stretches_) cuts_.back().push_back(stretch.first);
    const auto longest =
        std::ranges::max_element(stretches_, {}, [](const auto& a) { return a.last - a.first; });
    std::size_t pieces = (graph_.hosts.size() + graph_.devices.size()) / nodes_per_piece + 1;
    if (stretches_.empty() || stretches_.size() > most_stretches_in_pieces) pieces = 1;
    for (std::size_t piece = 1; piece < pieces; ++piece) {
      const auto share = (longest->last - longest->first) * piece / pieces;
      cut_at(start(*longest, longest->first + static_cast<NodeIndex>(share)));
    }
    cuts_.emplace_back();
    for (const Stretch& stretch : stretches_) cuts_.back().push_back(stretch.last);
  }

  void cut_at(std::int64_t time) {
    std::vector<NodeIndex> cut;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      NodeIndex first = cuts_.back()[i];
      NodeIndex last = stretches_[i].last;
      while (first < last) {
        const NodeIndex middle = first + (last - first) / 2;
        if (start(stretches_[i], middle) < time) {
          first = middle + 1;
        } else {
          last = middle;
        }
      }
      cut.push_back(first);
    }
    cuts_.push_back(std::move(cut));
  }

  std::vector<Key> keys(std::size_t piece) const {
    std::vector<Key> keys;
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const NodeIndex turned = stretches_[i].hosts ? 0 : ReplayGraph::host_bit;
      for (NodeIndex node = cuts_[piece][i]; node < cuts_[piece + 1][i]; ++node)
        keys.emplace_back(start(stretches_[i], node), node | turned);
      if (ends.empty() || keys.size() > ends.back()) ends.push_back(keys.size());
    }
    merge(keys, std::move(ends));
    return keys;
  }

  /// Sorts what lies in sorted stretches that end at `ends`.
  static void merge(std::vector<Key>& keys, std::vector<std::size_t> ends) {
    std::vector<Key> merged(keys.size());
    const auto at = [](std::vector<Key>& of, std::size_t place) {
      return of.begin() + static_cast<std::ptrdiff_t>(place);
    };
    while (ends.size() > 1) {
      std::vector<std::size_t> fewer;
      std::size_t begin = 0;
      for (std::size_t i = 0; i < ends.size(); i += 2) {
        const std::size_t middle = ends[i];
        const std::size_t end = i + 1 < ends.size() ? ends[i + 1] : middle;
        std::merge(
            at(keys, begin), at(keys, middle), at(keys, middle), at(keys, end), at(merged, begin));
        fewer.push_back(end);
        begin = end;
      }
      keys.swap(merged);
      ends.swap(fewer);
    }
  }

  const ReplayGraph& graph_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<NodeIndex>> cuts_;  // by piece and stretch, with the ends as the last
};
}  // namespace

std::vector<NodeIndex> nodes_by_start(const ReplayGraph& graph) {
  return NodeOrder(graph).find();
}
}  // namespace scaleworth::trace
