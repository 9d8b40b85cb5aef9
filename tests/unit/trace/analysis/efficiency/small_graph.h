// SPDX-License-Identifier: Apache-2.0
/// Jobs with hosts and collectives, written down by hand in microseconds.
#pragma once

#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/efficiency/replay.h"
#include "trace/recording.h"

#include <algorithm>
#include <map>
#include <string>

namespace scaleworth::trace {

/// Of a step that is not averaged, for any reason.
inline std::optional<StepExclusion> excluded_if(bool excluded) {
  return excluded ? std::optional(StepExclusion{}) : std::nullopt;
}

class SmallJob {
 public:
  explicit SmallJob(std::size_t ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank)
      job_.recordings.emplace_back().origin.rank = static_cast<std::int32_t>(rank);
    waits_.by_rank.resize(ranks);
    steps_.by_rank.resize(ranks);
    alignment_.map = ClockMap(ranks);
  }

  /// Work on a GPU from `start` to `end`; `call` is the number of the call that launched it.
  SmallJob& kernel(std::size_t rank, int start, int end, int call = 0, std::uint32_t stream = 7) {
    DeviceEvent event;
    event.start = std::chrono::microseconds(start);
    event.end = std::chrono::microseconds(end);
    event.stream = stream;
    event.correlation = static_cast<std::uint64_t>(call);
    event.work_class = WorkClass::gemm;
    job_.recordings[rank].device_events.push_back(event);
    return *this;
  }

  SmallJob& copy(std::size_t rank, int start, int end) {
    kernel(rank, start, end, 0, 9);
    DeviceEvent& event = job_.recordings[rank].device_events.back();
    event.operation = DeviceOperation::copy;
    event.work_class = WorkClass::copy;
    return *this;
  }

  /// A rank's part of collective `number`.
  SmallJob& collective(std::size_t rank, std::size_t number, int start, int end, int call = 0) {
    kernel(rank, start, end, call);
    DeviceEvent& event = job_.recordings[rank].device_events.back();
    event.work_class = WorkClass::communication;
    event.collective = CollectiveKind::all_reduce;
    members_[number].push_back(
        {static_cast<std::uint32_t>(rank),
         static_cast<std::uint32_t>(job_.recordings[rank].device_events.size() - 1)});
    return *this;
  }

  SmallJob& call(std::size_t rank, int start, int end, int number) {
    HostEvent event;
    event.start = std::chrono::microseconds(start);
    event.end = std::chrono::microseconds(end);
    event.correlation = static_cast<std::uint64_t>(number);
    job_.recordings[rank].host_events.push_back(event);
    return *this;
  }

  /// A call that returns when the device is done.
  SmallJob& sync(std::size_t rank, int start, int end) {
    call(rank, start, end, 0);
    job_.recordings[rank].host_events.back().cause = HostCause::synchronizing_call;
    return *this;
  }

  SmallJob& step(std::size_t rank,
                 int number,
                 int start,
                 int end,
                 std::optional<StepExclusion> excluded = {}) {
    steps_.by_rank[rank].push_back(
        {number, std::chrono::microseconds(start), std::chrono::microseconds(end), excluded});
    return *this;
  }

  Alignment& alignment() { return alignment_; }
  Job& job() { return job_; }

  /// Splits as the last-arriver rule gives them. Events must have been added in time order.
  const Waits& waits() {
    waits_.collectives.clear();
    for (auto& splits : waits_.by_rank) splits.clear();
    for (const auto& [number, members] : members_) {
      nanoseconds latest = nanoseconds::min();
      for (const auto& [rank, event] : members)
        latest = std::max(latest, job_.recordings[rank].device_events[event].start);
      CollectiveWait wait;
      wait.kind = CollectiveKind::all_reduce;
      for (const auto& [rank, event] : members) {
        const DeviceEvent& one = job_.recordings[rank].device_events[event];
        CommunicationSplit split;
        split.event = event;
        split.start = one.start;
        split.split = std::clamp(latest, one.start, one.end);
        split.end = one.end;
        split.known = true;
        split.collective = std::ssize(waits_.collectives);
        waits_.by_rank[rank].push_back(split);
        wait.participants.push_back(
            {place_at(rank), Rank{static_cast<int>(rank)}, one.start, one.end, {}, {}});
      }
      waits_.collectives.push_back(wait);
    }
    return waits_;
  }

  EfficiencyResult measure(StragglerReport stragglers = {}) {
    const JobReplay replay(job_, steps_, waits(), alignment_);
    settle_costs(replay, 1.0, stragglers);
    return measure_efficiency(replay, stragglers);
  }

  /// Length of the first run of steps in microseconds under a change.
  double replayed(const Change& change) {
    const auto windows = choose_windows(job_, steps_, alignment_.map);
    const EfficiencyWindow& run = windows.value().runs.front();
    const ReplayGraph graph = build_replay_graph(job_, waits(), alignment_.map, run);
    const auto end = last_end(graph, change, replay(graph, change));
    return static_cast<double>(end.value() - run.whole.start.count()) * 1e-3;
  }

 private:
  struct Place {
    std::uint32_t rank;
    std::uint32_t event;
  };
  Job job_;
  Waits waits_;
  StepPlan steps_;
  Alignment alignment_;
  std::map<std::size_t, std::vector<Place>> members_;
};

inline StragglerReport blame(int rank) {
  StragglerReport report;
  Straggler straggler;
  straggler.rank = Rank{rank};
  straggler.unit = "rank " + std::to_string(rank);
  straggler.significant = true;
  report.stragglers.push_back(straggler);
  return report;
}

}  // namespace scaleworth::trace
