// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger/host_evidence.h"

#include "trace/analysis/ledger/innermost.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

using attribution::HostCause;

bool is_call(const HostEvent& event) {
  return event.activity == HostActivity::runtime_call ||
         event.activity == HostActivity::driver_call;
}

bool is_profiler(const HostEvent& event) {
  return event.activity == HostActivity::overhead && !event.cause;
}

}  // namespace

HostEvidence::HostEvidence(const RankView& rank) : rank_(rank) {
  collect_calls();
  collect_causes();
  collect_waits();
}

void HostEvidence::collect_calls() {
  const auto& events = rank_.recording().host_events;
  std::unordered_map<std::uint32_t, std::int64_t> calls;
  for (std::uint32_t index = 0; index < events.size(); ++index) {
    const HostEvent& event = events[index];
    last_end_ = std::max(last_end_.value_or(rank_.end(event)), rank_.end(event));
    if (!is_call(event)) continue;
    if (event.correlation != 0) launches_.push_back({event.correlation, index});
    ++calls[event.thread];
    auto& dispatching = threads_[event.thread].dispatching;
    if (!dispatching.empty() &&
        rank_.start(event) - dispatching.back().end <= longest_dispatch_pause) {
      dispatching.back().end = std::max(dispatching.back().end, rank_.end(event));
    } else {
      dispatching.push_back({rank_.start(event), rank_.end(event)});
    }
  }
  const auto earlier = [](const Launch& a, const Launch& b) {
    return a.correlation < b.correlation;
  };
  // Most tools number calls as they come.
  if (!std::is_sorted(launches_.begin(), launches_.end(), earlier))
    std::stable_sort(launches_.begin(), launches_.end(), earlier);
  std::int64_t most = 0;
  for (const auto& [thread, count] : calls) {
    if (count < most || (count == most && main_thread_ && *main_thread_ < thread)) continue;
    most = count;
    main_thread_ = thread;
  }
}

void HostEvidence::collect_causes() {
  std::unordered_map<std::uint32_t, InnermostStretches> of_thread;
  InnermostStretches everywhere;
  for (const HostEvent& event : rank_.recording().host_events) {
    if (!event.cause && !is_profiler(event)) continue;
    const HostStretch stretch{rank_.start(event), rank_.end(event), event.cause};
    const auto found = threads_.find(event.thread);
    const bool makes_calls = found != threads_.end() && !found->second.dispatching.empty();
    of_thread[event.thread].add(stretch);
    if (event.cause == HostCause::garbage_collection || (is_profiler(event) && !makes_calls))
      everywhere.add(stretch);
  }
  for (auto& [thread, stretches] : of_thread) threads_[thread].stretches = stretches.finish();
  everywhere_ = everywhere.finish();
}

void HostEvidence::collect_waits() {
  const auto& recording = rank_.recording();
  for (const HostEvent& event : recording.host_events) {
    if (event.synchronization >= recording.synchronizations.size()) continue;
    const Synchronization& wait = recording.synchronizations[event.synchronization];
    if (wait.kind != Synchronization::Kind::stream_wait_event || !wait.stream) continue;
    stream_waits_[*wait.stream].push_back(rank_.start(event));
  }
}

const HostEvent* HostEvidence::launch(const DeviceEvent& event) const {
  if (event.correlation == 0) return nullptr;
  const auto found = std::lower_bound(
      launches_.begin(),
      launches_.end(),
      event.correlation,
      [](const Launch& a, std::uint64_t correlation) { return a.correlation < correlation; });
  if (found == launches_.end() || found->correlation != event.correlation) return nullptr;
  return &rank_.recording().host_events[found->event];
}

const HostThread* HostEvidence::thread(std::uint32_t index) const {
  const auto found = threads_.find(index);
  return found == threads_.end() ? nullptr : &found->second;
}

bool HostEvidence::told_to_wait(std::uint32_t stream, nanoseconds after, nanoseconds until) const {
  const auto found = stream_waits_.find(stream);
  if (found == stream_waits_.end()) return false;
  const auto next = std::lower_bound(found->second.begin(), found->second.end(), after);
  return next != found->second.end() && *next <= until;
}

}  // namespace scaleworth::trace
