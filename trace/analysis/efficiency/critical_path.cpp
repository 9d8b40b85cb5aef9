// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/efficiency.h"

#include <limits>
#include <map>

namespace scaleworth::trace {
namespace {

std::string late_host(HostCause cause) {
  return std::string("CPU launched too late: ") + word_of(cause);
}

/// What the threads of the path's ranks did between their calls; made when a rank is first met.
class HostCauses {
 public:
  HostCauses(const Job& job, const ClockMap& clocks) : job_(job), clocks_(clocks) {}

  /// The cause that takes most of [start, end) on the thread of `node`; launch_bound for none in a
  /// short pause between calls, else `other`.
  HostCause of(const HostNode& node, std::int64_t start, std::int64_t end) {
    std::map<HostCause, std::int64_t> covered;
    const Recording& recording = job_.recordings[node.rank];
    const HostEvidence& evidence =
        ranks_.try_emplace(node.rank, RankView(recording, clocks_, node.rank)).first->second;
    const auto add = [&](const HostStretch& one, nanoseconds from, nanoseconds to) {
      if (one.cause) covered[*one.cause] += (to - from).count();
    };
    if (const HostThread* thread = evidence.thread(recording.host_events[node.event].thread))
      for_each_within(thread->stretches, {nanoseconds(start), nanoseconds(end)}, add);
    for (const auto& [cause, time] : covered)
      if (2 * time >= end - start) return cause;
    return end - start <= longest_dispatch_pause.count() ? HostCause::launch_bound
                                                         : HostCause::other;
  }

 private:
  const Job& job_;
  const ClockMap& clocks_;
  std::map<std::uint32_t, HostEvidence> ranks_;
};

/// Time by rank and kind of work.
using PathShares = std::map<std::pair<std::uint32_t, std::string>, std::int64_t>;

class PathWalk {
 public:
  PathWalk(const ReplayGraph& graph, HostCauses& causes, PathShares& shares)
      : graph_(graph),
        causes_(causes),
        shares_(shares),
        start_(graph.window.start.count()),
        now_(graph.window.end.count()) {}

  void walk() {
    const auto last = std::ranges::max_element(graph_.devices, {}, &DeviceNode::end);
    if (last == graph_.devices.end()) return spend(rank_, "without work of any GPU", start_);
    at_ = static_cast<NodeIndex>(last - graph_.devices.begin());
    spend(last->rank, "after the last work", last->end);
    // Every step goes to a node that began no later; the bound is against contradictory recordings.
    std::size_t steps = 2 * (graph_.devices.size() + graph_.hosts.size()) + 2;
    while (now_ > start_ && steps-- > 0 && at_ != no_index) {
      if ((at_ & ReplayGraph::host_bit) == 0)
        leave_device(graph_.devices[at_]);
      else
        leave_host(graph_.hosts[at_ & ~ReplayGraph::host_bit]);
    }
    spend(rank_, "before the first known cause", start_);
  }

 private:
  /// Charges the time back to `until`.
  void spend(std::uint32_t rank, const std::string& what, std::int64_t until) {
    until = std::max(until, start_);
    if (until >= now_) return;
    shares_[{rank, what}] += now_ - until;
    now_ = until;
  }

  void leave_device(const DeviceNode& node) {
    rank_ = node.rank;
    NodeIndex awaited = node.partner;
    if (node.meeting != no_index) awaited = graph_.meetings[node.meeting].last;
    const bool waited = awaited != no_index && graph_.devices[awaited].start > node.start &&
                        graph_.devices[awaited].start < now_;
    spend(node.rank, work_of(node), waited ? graph_.devices[awaited].start : node.start);
    begin_of(waited ? graph_.devices[awaited] : node);
  }

  static std::string work_of(const DeviceNode& node) {
    if (node.kind == DeviceNode::Kind::compute) return "compute";
    if (node.kind == DeviceNode::Kind::copy) return "copies and fills";
    return node.collective == CollectiveKind::unknown
               ? "communication"
               : std::string("transfer of ") + key_of(node.collective);
  }

  /// From a node's start to the cause that explains it best.
  void begin_of(const DeviceNode& node) {
    at_ = no_index;
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    const char* gap = "";
    const auto device_cause = [&](NodeIndex cause, std::int64_t usual, const char* name) {
      if (cause == no_index || graph_.devices[cause].end > node.start + rounding_ns) return;
      const std::int64_t due = graph_.devices[cause].end + usual;
      if (due <= best) return;
      best = due;
      at_ = cause;
      gap = name;
    };
    device_cause(node.before, usual_stream_ns, "gap between kernels");
    device_cause(node.awaits, usual_event_ns, "gap between streams");
    if (node.launch != no_index && graph_.hosts[node.launch].start <= node.start &&
        graph_.hosts[node.launch].start + usual_launch_ns > best) {
      at_ = node.launch | ReplayGraph::host_bit;
      return spend(node.rank, "from launch to start", graph_.hosts[node.launch].start);
    }
    if (at_ != no_index) spend(node.rank, gap, graph_.devices[at_].end);
  }

  /// From a call's start to the call before it, and through that one.
  void leave_host(const HostNode& node) {
    rank_ = node.rank;
    at_ = node.before | ReplayGraph::host_bit;  // no_index for none
    if (at_ == no_index) return spend(node.rank, "before the first recorded call", start_);
    const HostNode& before = graph_.hosts[node.before];
    if (before.end < now_)
      spend(node.rank, late_host(causes_.of(node, before.end, now_)), before.end);
    if (before.target != no_index && graph_.devices[before.target].end <= now_) {
      at_ = before.target;
      spend(node.rank, late_host(HostCause::synchronizing_call), graph_.devices[at_].end);
    } else {
      spend(node.rank, late_host(HostCause::launch_bound), before.start);
    }
  }

  const ReplayGraph& graph_;
  HostCauses& causes_;
  PathShares& shares_;
  std::int64_t start_;
  std::int64_t now_;
  NodeIndex at_ = no_index;  // where the walk is; of a call with ReplayGraph::host_bit
  std::uint32_t rank_ = 0;
};
}  // namespace

std::vector<Efficiency::PathShare> critical_path(const Job& job,
                                                 const ClockMap& clocks,
                                                 const std::vector<ReplayGraph>& runs) {
  PathShares shares;
  HostCauses causes(job, clocks);
  for (const ReplayGraph& run : runs) PathWalk(run, causes, shares).walk();
  std::vector<Efficiency::PathShare> path;
  const RankNumbers numbers(job);
  for (const auto& [key, time] : shares)
    path.push_back({numbers.at(Place{key.first}), key.second, nanoseconds(time)});
  std::ranges::stable_sort(path, std::ranges::greater{}, &Efficiency::PathShare::time);
  return path;
}
}  // namespace scaleworth::trace
