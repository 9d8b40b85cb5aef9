// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/ledger.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

namespace scaleworth::trace {
namespace {
using attribution::Efficiency;
using attribution::HostCause;

std::string transfer_of(attribution::CollectiveKind kind) {
  return kind == attribution::CollectiveKind::unknown
             ? "communication"
             : std::string("transfer of ") + attribution::collective_kind_name(kind);
}

std::string late_host(HostCause cause) {
  return std::string("host late: ") + attribution::host_cause_name(cause);
}

/// What the threads of the path's ranks did between their calls; made when a rank is first met.
class HostCauses {
 public:
  HostCauses(const Job& job, const ClockMap& clocks) : job_(job), clocks_(clocks) {}

  /// The cause that takes most of [start, end) on the thread of `node`; launch_bound for none in a
  /// short pause between calls, else `other`.
  HostCause of(const HostNode& node, std::int64_t start, std::int64_t end) {
    std::map<HostCause, std::int64_t> covered;
    const auto& event = job_.recordings[node.rank].host_events[node.event];
    if (const HostThread* thread = evidence(node.rank).thread(event.thread)) {
      const auto& stretches = thread->stretches;
      auto one = std::ranges::upper_bound(stretches, nanoseconds(start), {}, &HostStretch::end);
      for (; one != stretches.end() && one->start.count() < end; ++one) {
        if (one->cause)
          covered[*one->cause] +=
              std::min(end, one->end.count()) - std::max(start, one->start.count());
      }
    }
    for (const auto& [cause, time] : covered) {
      if (2 * time >= end - start) return cause;
    }
    return end - start <= HostEvidence::longest_dispatch_pause.count() ? HostCause::launch_bound
                                                                       : HostCause::other;
  }

 private:
  struct RankEvidence {
    RankView view;
    HostEvidence evidence;
    RankEvidence(const Recording& recording, const ClockMap& clocks, std::size_t rank)
        : view(recording, clocks, rank), evidence(view) {}
  };

  const HostEvidence& evidence(std::uint32_t rank) {
    auto& place = ranks_[rank];
    if (!place) place = std::make_unique<RankEvidence>(job_.recordings[rank], clocks_, rank);
    return place->evidence;
  }

  const Job& job_;
  const ClockMap& clocks_;
  std::map<std::uint32_t, std::unique_ptr<RankEvidence>> ranks_;
};

/// Time by rank and kind of work.
using PathShares = std::map<std::pair<std::uint32_t, std::string>, std::int64_t>;

class PathWalk {
 public:
  PathWalk(const EfficiencyWindow& window, const ReplayGraph& graph, HostCauses& causes)
      : graph_(graph),
        causes_(causes),
        start_(window.whole.start.count()),
        now_(window.whole.end.count()) {}

  PathShares walk() {
    NodeIndex device = last_work();
    NodeIndex host = no_index;
    if (device == no_index) {
      spend(rank_, "without work of any GPU", start_);
      return std::move(shares_);
    }
    spend(graph_.devices[device].rank, "after the last work", graph_.devices[device].end);
    // Every step goes to a node that began no later; the bound is against contradictory recordings.
    std::size_t steps = 2 * (graph_.devices.size() + graph_.hosts.size()) + 2;
    while (now_ > start_ && steps-- > 0 && (device != no_index || host != no_index)) {
      if (device != no_index) {
        rank_ = graph_.devices[device].rank;
        leave_device(device, host);
      } else {
        rank_ = graph_.hosts[host].rank;
        leave_host(device, host);
      }
    }
    spend(rank_, "before the first known cause", start_);
    return std::move(shares_);
  }

 private:
  NodeIndex last_work() const {
    NodeIndex last = no_index;
    for (NodeIndex i = 0; i < graph_.devices.size(); ++i) {
      if (last == no_index || graph_.devices[i].end > graph_.devices[last].end) last = i;
    }
    return last;
  }

  /// Charges the time back to `until`.
  void spend(std::uint32_t rank, const std::string& what, std::int64_t until) {
    until = std::max(until, start_);
    if (until >= now_) return;
    shares_[{rank, what}] += now_ - until;
    now_ = until;
  }

  void leave_device(NodeIndex& device, NodeIndex& host) {
    const DeviceNode& node = graph_.devices[device];
    NodeIndex awaited = node.partner;
    if (node.meeting != no_index) awaited = graph_.meetings[node.meeting].last;
    const bool waited = awaited != no_index && graph_.devices[awaited].start > node.start &&
                        graph_.devices[awaited].start < now_;
    spend(node.rank, work_of(node), waited ? graph_.devices[awaited].start : node.start);
    const DeviceNode& late = waited ? graph_.devices[awaited] : node;
    begin_of(late, device, host);
  }

  static std::string work_of(const DeviceNode& node) {
    switch (node.kind) {
      case DeviceNode::Kind::communication:
        return transfer_of(node.collective);
      case DeviceNode::Kind::copy:
        return "copies and fills";
      case DeviceNode::Kind::compute:
        break;
    }
    return "compute";
  }

  /// From a node's start to the cause that explains it best.
  void begin_of(const DeviceNode& node, NodeIndex& device, NodeIndex& host) {
    device = no_index;
    host = no_index;
    std::int64_t best = std::numeric_limits<std::int64_t>::min();
    const char* gap = "";
    const auto device_cause = [&](NodeIndex cause, std::int64_t usual, const char* name) {
      if (cause == no_index || graph_.devices[cause].end > node.start) return;
      const std::int64_t due = graph_.devices[cause].end + usual;
      if (due <= best) return;
      best = due;
      device = cause;
      gap = name;
    };
    device_cause(node.before, usual_stream_ns, "gap between kernels");
    device_cause(node.awaits, usual_event_ns, "gap between streams");
    if (node.launch != no_index && graph_.hosts[node.launch].start <= node.start &&
        graph_.hosts[node.launch].start + usual_launch_ns > best) {
      host = node.launch;
      device = no_index;
      spend(node.rank, "from launch to start", graph_.hosts[host].start);
      return;
    }
    if (device != no_index) spend(node.rank, gap, graph_.devices[device].end);
  }

  /// From a call's start to the call before it, and through that one.
  void leave_host(NodeIndex& device, NodeIndex& host) {
    const HostNode& node = graph_.hosts[host];
    host = node.before;
    if (host == no_index) {
      spend(node.rank, "before the first recorded call", start_);
      return;
    }
    const HostNode& before = graph_.hosts[host];
    if (before.end < now_)
      spend(node.rank, late_host(causes_.of(node, before.end, now_)), before.end);
    if (before.target != no_index && graph_.devices[before.target].end <= now_) {
      device = before.target;
      host = no_index;
      spend(node.rank, late_host(HostCause::synchronizing_call), graph_.devices[device].end);
    } else {
      spend(node.rank, late_host(HostCause::launch_bound), before.start);
    }
  }

  const ReplayGraph& graph_;
  HostCauses& causes_;
  std::int64_t start_;
  std::int64_t now_;
  std::uint32_t rank_ = 0;
  PathShares shares_;
};
}  // namespace

std::vector<Efficiency::PathShare> critical_path(const Job& job,
                                                 const ClockMap& clocks,
                                                 const std::vector<ReplayedRun>& runs) {
  PathShares sum;
  HostCauses causes(job, clocks);
  for (const ReplayedRun& run : runs)
    for (const auto& [key, time] : PathWalk(*run.window, run.graph, causes).walk())
      sum[key] += time;
  std::vector<Efficiency::PathShare> path;
  for (const auto& [key, time] : sum)
    path.push_back({Rank{static_cast<int>(key.first)}, key.second, nanoseconds(time)});
  std::ranges::stable_sort(path, std::ranges::greater{}, &Efficiency::PathShare::time);
  return path;
}
}  // namespace scaleworth::trace
