// SPDX-License-Identifier: Apache-2.0
/// A rank's recording written down event by event, and its ledger; times in nanoseconds.
#pragma once

#include "trace/analysis/ledger.h"

#include <string_view>

namespace scaleworth::trace {

class OneRank {
 public:
  OneRank() { job_.recordings.emplace_back(); }

  DeviceEvent& work(WorkClass work_class,
                    std::int64_t start,
                    std::int64_t end,
                    std::uint64_t correlation = 0,
                    std::uint32_t stream = 7) {
    DeviceEvent event;
    event.start = nanoseconds(start);
    event.end = nanoseconds(end);
    event.correlation = correlation;
    event.stream = stream;
    event.work_class = work_class;
    if (work_class == WorkClass::copy) event.operation = DeviceOperation::copy;
    return recording().device_events.emplace_back(event);
  }

  /// A communication kernel that waits until `split` for rank `waited_for` (-1: for nobody known).
  void communication(std::int64_t start,
                     std::int64_t split,
                     std::int64_t end,
                     int waited_for,
                     std::uint32_t stream = 20) {
    work(WorkClass::communication, start, end, 0, stream);
    CommunicationSplit one{0, nanoseconds(start), nanoseconds(split), nanoseconds(end), true, {}};
    if (waited_for >= 0) one.waited_for = Place{static_cast<std::uint32_t>(waited_for)};
    splits_.push_back(one);
  }

  HostEvent& host(HostActivity activity,
                  std::int64_t start,
                  std::int64_t end,
                  std::optional<HostCause> cause = std::nullopt,
                  std::uint32_t thread = 0) {
    HostEvent event;
    event.start = nanoseconds(start);
    event.end = nanoseconds(end);
    event.thread = thread;
    event.activity = activity;
    event.cause = cause;
    return recording().host_events.emplace_back(event);
  }

  void launch(std::uint64_t correlation,
              std::int64_t start,
              std::int64_t end,
              std::uint32_t thread = 0) {
    host(HostActivity::runtime_call, start, end, std::nullopt, thread).correlation = correlation;
  }

  void stream_waits(std::uint32_t stream, std::int64_t time) {
    HostEvent& event = host(HostActivity::synchronization, time, time);
    event.synchronization = static_cast<std::uint32_t>(recording().synchronizations.size());
    Synchronization& wait = recording().synchronizations.emplace_back();
    wait.kind = Synchronization::Kind::stream_wait_event;
    wait.stream = stream;
  }

  void step(std::int64_t start, std::int64_t end) {
    StepSpan span;
    span.number = static_cast<std::int32_t>(steps_.size());
    span.start = nanoseconds(start);
    span.end = nanoseconds(end);
    steps_.push_back(span);
  }

  Recording& recording() { return job_.recordings[0]; }

  /// One entry per step. `ranks` of which this is rank 0; the others are empty.
  std::vector<StepLedger> ledger(std::size_t ranks = 1) {
    sort_events(recording());
    Waits waits;
    waits.by_rank.push_back(numbered_splits());
    while (job_.recordings.size() < ranks) job_.recordings.emplace_back();
    StepPlan plan;
    plan.by_rank.push_back(steps_);
    return build_job_ledger(job_, plan, waits, ClockMap(ranks));
  }

 private:
  /// Splits refer to events by their place after sorting; events of equal start and end are equal
  /// in what matters here.
  std::vector<CommunicationSplit> numbered_splits() {
    std::vector<CommunicationSplit> result = splits_;
    std::vector<bool> taken(recording().device_events.size());
    for (CommunicationSplit& split : result) {
      for (std::uint32_t index = 0; index < taken.size(); ++index) {
        const DeviceEvent& event = recording().device_events[index];
        if (taken[index] || event.work_class != WorkClass::communication ||
            event.start != split.start || event.end != split.end)
          continue;
        taken[index] = true;
        split.event = index;
        break;
      }
    }
    return result;
  }

  Job job_;
  std::vector<CommunicationSplit> splits_;
  std::vector<StepSpan> steps_;
};

inline std::int64_t part(const StepLedger& ledger, Part which) {
  return ledger.part(which).count();
}

inline std::int64_t late(const StepLedger& ledger, HostCause cause) {
  return ledger.host_late_by_cause[static_cast<std::size_t>(cause)].count();
}

}  // namespace scaleworth::trace
