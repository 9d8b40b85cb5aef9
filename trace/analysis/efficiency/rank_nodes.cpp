// SPDX-License-Identifier: Apache-2.0
#include "src/core/process.h"
#include "trace/analysis/efficiency/replay.h"

#include <limits>

namespace scaleworth::trace {
namespace {
/// A launch normally takes 5 to 20 us. One that takes this long and during which GPU work ended was
/// blocked by a full queue.
constexpr std::int64_t blocked_launch_ns = 500'000;
/// A delay beyond what the known edges explain, from which on another cause is looked for.
constexpr std::int64_t unexplained_ns = 10'000;
/// Work from this length on shows whether its host goes on while it runs.
constexpr std::int64_t long_work_ns = 200'000;
/// By so much operations of a framework's timeline overlap that follow each other.
constexpr std::int64_t timer_error_ns = 20'000;

DeviceNode::Kind kind_of(const DeviceEvent& event) {
  if (is_communication(event)) return DeviceNode::Kind::communication;
  return event.operation == DeviceOperation::kernel && is_compute(event) ? DeviceNode::Kind::compute
                                                                         : DeviceNode::Kind::copy;
}

/// Device nodes of a graph of one rank by the correlation of their launch.
class Launches {
 public:
  Launches(ReplayGraph& graph, const RankView& view) : graph_(graph) {
    const auto& events = view.recording().device_events;
    for (NodeIndex node = 0; node < graph.devices.size(); ++node) {
      const std::uint64_t correlation = events[graph.devices[node].event].correlation;
      if (correlation != 0) launched_.emplace_back(correlation, node);
    }
    if (!std::ranges::is_sorted(launched_)) std::ranges::sort(launched_);
  }

  /// Makes `call` the launch of all nodes with the correlation that have none yet: of nested calls
  /// with one correlation the outermost comes first and keeps it. False when there are none.
  bool claim(std::uint64_t correlation, NodeIndex call) {
    if (correlation == 0 || launched_.empty() || correlation < launched_.front().first ||
        correlation > launched_.back().first)
      return false;
    // Calls come nearly in the order of their correlations.
    if (next_ == launched_.size() || launched_[next_].first != correlation) {
      const auto found = std::ranges::lower_bound(launched_, std::pair(correlation, NodeIndex{}));
      next_ = static_cast<std::size_t>(found - launched_.begin());
    }
    bool claimed = false;
    for (; next_ < launched_.size() && launched_[next_].first == correlation; ++next_) {
      DeviceNode& device = graph_.devices[launched_[next_].second];
      if (device.launch != no_index) continue;
      device.launch = call;
      claimed = true;
    }
    return claimed;
  }

 private:
  ReplayGraph& graph_;
  std::vector<std::pair<std::uint64_t, NodeIndex>> launched_;  // correlation, device
  std::size_t next_ = 0;
};

/// Indices of nodes by their end, by which most are sorted already.
template <class Nodes>
std::vector<NodeIndex> sorted_by_end(const Nodes& nodes) {
  std::vector<NodeIndex> indices = numbers_below<NodeIndex>(nodes.size());
  const auto ends_before = [&](NodeIndex a, NodeIndex b) { return nodes[a].end < nodes[b].end; };
  if (!std::ranges::is_sorted(indices, ends_before)) std::ranges::stable_sort(indices, ends_before);
  return indices;
}

/// Latest of `recorded` plus its usual delay over the edges of `node`.
std::int64_t explained_start(const ReplayGraph& graph, const DeviceNode& node) {
  std::int64_t explained = std::numeric_limits<std::int64_t>::min();
  const auto edge = [&](std::int64_t recorded, std::int64_t usual) {
    if (recorded > node.start + rounding_ns) return;
    recorded = std::min(recorded, node.start);
    explained = std::max(explained, recorded + std::min(usual, node.start - recorded));
  };
  if (node.before != no_index) edge(graph.devices[node.before].end, usual_stream_ns);
  if (node.launch != no_index) edge(graph.hosts[node.launch].start, usual_launch_ns);
  if (node.awaits != no_index) edge(graph.devices[node.awaits].end, usual_event_ns);
  return explained;
}

/// Fills an empty graph with one rank's nodes and the edges among them. Refers to what it is made
/// of.
class RankNodes {
 public:
  RankNodes(ReplayGraph& graph, const RankView& view, std::uint32_t rank, TimeInterval window)
      : graph_(graph), view_(view), rank_(rank), window_(window) {}

  void fill(const std::vector<CommunicationSplit>& splits) {
    add_devices();
    add_hosts();
    if (in_lockstep()) block_launches();
    chain_hosts();
    by_end_ = sorted_by_end(graph_.devices);
    find_targets();
    arrive(splits);
    // Of the communication without matched partners, and of all others, what they waited for on
    // their own device.
    if (view_.recording().origin.framework_timeline) return follow_timers();
    if (!add_stream_waits(graph_, view_)) follow_launch_order();
    guess_from_ends();
  }

 private:
  /// Communication starts when its rank arrived, which frameworks' timelines show later: by then
  /// all the rank's work before has ended, so that the nodes stay in order.
  void arrive(const std::vector<CommunicationSplit>& splits) {
    for (const CommunicationSplit& split : splits) {
      const NodeIndex node = graph_.node_of(0, split.event);
      if (node == no_index) continue;
      std::int64_t& start = graph_.devices[node].start;
      start = std::min(start, std::max(split.start, window_.start).count());
    }
  }

  /// When the work before `first` has ended, not before the window. What began long before has.
  template <class Iterator>
  nanoseconds free_from(Iterator begin, Iterator first) const {
    // Events back, for time; presumed: what began before them has ended.
    constexpr std::ptrdiff_t recent = 256;
    nanoseconds free = window_.start;
    for (auto event = first - std::min(recent, first - begin); event != first; ++event)
      free = std::max(free, view_.end(*event));
    return free;
  }

  void add_devices() {
    const auto& events = view_.recording().device_events;
    const auto first = std::ranges::partition_point(
        events, [&](const DeviceEvent& event) { return view_.start(event) < window_.start; });
    const auto last = first + events_within(view_, window_);
    RankSpan span{window_};
    span.start = free_from(events.begin(), first).count();
    span.end = std::numeric_limits<std::int64_t>::min();
    graph_.devices.reserve(std::max<std::ptrdiff_t>(last - first, 0));
    LastOfStream last_of_stream;
    for (auto event = first; event < last; ++event) {
      DeviceNode node;
      node.start = view_.start(*event).count();
      node.end = view_.end(*event).count();
      node.event = static_cast<std::uint32_t>(event - events.begin());
      node.rank = rank_;
      node.kind = kind_of(*event);
      const auto index = static_cast<NodeIndex>(graph_.devices.size());
      if (index % interrupt_every == 0) check_interrupt();
      node.before = last_of_stream.exchange(*event, index);
      if (index == 0) span.start = std::min(span.start + usual_launch_ns, node.start);
      span.end = std::max(span.end, node.end);
      graph_.devices.push_back(node);
    }
    span.last = static_cast<NodeIndex>(graph_.devices.size());
    graph_.ranks = {span};
  }

  void add_hosts() {
    Launches launches(graph_, view_);
    const auto& calls = view_.recording().host_events;
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      if (call % interrupt_every == 0) check_interrupt();
      const HostEvent& event = calls[call];
      const auto node = static_cast<NodeIndex>(graph_.hosts.size());
      const bool launched = is_call(event) && launches.claim(event.correlation, node);
      const bool within = view_.end(event) > window_.start && view_.end(event) <= window_.end;
      if (!launched && !within) continue;
      const std::int64_t start = view_.start(event).count();
      const std::int64_t end = view_.end(event).count();
      const bool waits =
          within && (waits_for_device(event) || (launched && end - start > blocked_launch_ns));
      if (!launched && !waits) continue;
      if (waits) waiting_calls_.push_back(node);
      graph_.hosts.push_back({start, end, no_index, no_index, rank_});
    }
  }

  /// Whether the host launches nothing while long work runs, and goes on as soon as it has ended:
  /// then it waits for it, though no call that waits is recorded (blocking communication,
  /// CUDA_LAUNCH_BLOCKING, work that was carried out by the host itself). A host that was only slow
  /// pauses for long, or launches under the work now and then.
  bool in_lockstep() const {
    constexpr std::int64_t fewest = 8;       // launches: fewer may be in step by chance
    constexpr std::int64_t most_ahead = 50;  // one in so many
    constexpr std::int64_t most_pause = 4;   // of the work's time
    std::vector<std::int64_t> calls = mapped(graph_.hosts, &HostNode::start);
    std::ranges::sort(calls);
    std::int64_t count = 0;
    std::int64_t ahead = 0;
    std::int64_t length = 0;
    std::int64_t pauses = 0;
    for (const DeviceNode& node : graph_.devices) {
      if (node.launch == no_index || node.end - node.start < long_work_ns) continue;
      const auto next = std::ranges::upper_bound(calls, node.start);
      if (next == calls.end()) continue;
      ++count;
      ahead += *next < node.end - unexplained_ns ? 1 : 0;
      length += node.end - node.start;
      pauses += std::max<std::int64_t>(*next - node.end, 0);
    }
    return count >= fewest && ahead * most_ahead <= count && pauses * most_pause <= length;
  }

  /// A call returns when the work that it launched has ended.
  void block_launches() {
    for (NodeIndex index = 0; index < graph_.devices.size(); ++index) {
      const DeviceNode& device = graph_.devices[index];
      if (device.launch == no_index) continue;
      HostNode& call = graph_.hosts[device.launch];
      if (device.end <= call.end) continue;
      call.end = device.end;
      call.target = index;
    }
  }

  /// One chain for all threads: they hand the work to each other (forward, backward, optimizer),
  /// and the thread that goes on waited for the one that ended last.
  void chain_hosts() {
    const auto& hosts = graph_.hosts;
    const std::vector<NodeIndex> ends = sorted_by_end(hosts);
    NodeIndex last = no_index;
    std::size_t next = 0;
    for (NodeIndex node = 0; node < hosts.size(); ++node) {
      const std::int64_t start = hosts[node].start;
      // A call without length must not come before itself.
      while (next < ends.size() && hosts[ends[next]].end <= start + rounding_ns &&
             ends[next] < node)
        last = ends[next++];
      graph_.hosts[node].before = last;
    }
  }

  void find_targets() {
    for (const NodeIndex node : waiting_calls_) {
      HostNode& call = graph_.hosts[node];
      const NodeIndex target = last_ended(call.end + rounding_ns);
      if (target != no_index && graph_.devices[target].end > call.start) call.target = target;
    }
  }

  /// An operation begins when all that the rank began before it have ended: the one that ended
  /// last, and the one beside it, such as the other half of a send and receive. Timers and rounding
  /// make some begin a little before that; they are taken to begin then.
  void follow_timers() {
    const auto& events = view_.recording().device_events;
    for (DeviceNode& node : graph_.devices) {
      node.before = no_index;
      auto one =
          std::ranges::upper_bound(by_end_, node.start + timer_error_ns, {}, [&](NodeIndex other) {
            return graph_.devices[other].end;
          });
      // Beyond so many others at one instant the order is not worth knowing.
      for (int tries = 64; one != by_end_.begin() && node.before == no_index && tries > 0;
           --tries) {
        const NodeIndex cause = *--one;
        const DeviceNode& before = graph_.devices[cause];
        if (events[before.event].start >= events[node.event].start) continue;
        if (node.awaits == no_index) {
          node.awaits = cause;
        } else if (before.end > graph_.devices[node.awaits].start) {
          node.before = cause;
        } else {
          break;
        }
        node.start = std::clamp(before.end, node.start, node.end);
      }
    }
  }

  /// Frameworks let communication wait for what the current stream holds when it is called.
  void follow_launch_order() {
    std::vector<std::pair<NodeIndex, NodeIndex>> launches;  // host, device
    for (NodeIndex node = 0; node < graph_.devices.size(); ++node)
      if (graph_.devices[node].launch != no_index)
        launches.emplace_back(graph_.devices[node].launch, node);
    std::ranges::sort(launches);
    NodeIndex compute = no_index;
    for (const auto& [host, device] : launches) {
      DeviceNode& node = graph_.devices[device];
      if (node.kind != DeviceNode::Kind::communication) {
        compute = device;
      } else if (compute != no_index && graph_.devices[compute].end <= node.start) {
        node.awaits = compute;
      }
    }
  }

  void guess_from_ends() {
    std::size_t next = 0;
    NodeIndex last = no_index;
    for (NodeIndex index = 0; index < graph_.devices.size(); ++index) {
      DeviceNode& node = graph_.devices[index];
      while (next < by_end_.size() && graph_.devices[by_end_[next]].end <= node.start &&
             by_end_[next] != index)
        last = by_end_[next++];
      if (last == no_index || last >= index) continue;
      const std::int64_t explained = explained_start(graph_, node);
      const bool unexplained = explained == std::numeric_limits<std::int64_t>::min() ||
                               node.start - explained > unexplained_ns;
      if (unexplained && graph_.devices[last].end > explained) node.awaits = last;
    }
  }

  /// The device node that ended last, not later than `time`; no_index for none.
  NodeIndex last_ended(std::int64_t time) const {
    const auto after = std::ranges::upper_bound(
        by_end_, time, {}, [&](NodeIndex b) { return graph_.devices[b].end; });
    return after == by_end_.begin() ? no_index : *(after - 1);
  }

  bool waits_for_device(const HostEvent& event) const {
    if (event.activity != HostActivity::synchronization)
      return is_call(event) && event.cause == HostCause::synchronizing_call;
    const Synchronization* known = synchronization_of(view_.recording(), event);
    return known != nullptr && known->kind != Synchronization::Kind::stream_wait_event;
  }

  ReplayGraph& graph_;
  const RankView& view_;
  std::uint32_t rank_;
  TimeInterval window_;
  std::vector<NodeIndex> by_end_;
  std::vector<NodeIndex> waiting_calls_;
};
}  // namespace

ReplayGraph rank_graph(const RankView& view,
                       const std::vector<CommunicationSplit>& splits,
                       std::uint32_t rank,
                       TimeInterval window) {
  ReplayGraph graph;
  RankNodes(graph, view, rank, window).fill(splits);
  return graph;
}
}  // namespace scaleworth::trace
