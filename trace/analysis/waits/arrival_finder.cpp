// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/waits/arrival_finder.h"

#include <algorithm>
#include <optional>

namespace scaleworth::trace {
namespace {

std::vector<nanoseconds> ends_before(const std::vector<DeviceEvent>& events) {
  std::vector<nanoseconds> before(events.size());
  std::optional<nanoseconds> latest;
  std::size_t settled = 0;  // events that start before the one looked at
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (; events[settled].start < events[i].start; ++settled)
      latest = std::max(latest.value_or(events[settled].end), events[settled].end);
    before[i] = std::min(latest.value_or(events[i].start), events[i].start);
  }
  return before;
}

nanoseconds spread(const std::vector<nanoseconds>& times) {
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  return *last - *first;
}

}  // namespace

ArrivalFinder::ArrivalFinder(const Job& job, const ClockMap& clocks)
    : job_(job), clocks_(clocks), busy_until_(job.recordings.size()) {
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    if (job.recordings[rank].origin.framework_timeline)
      busy_until_[rank] = ends_before(job.recordings[rank].device_events);
}

std::vector<Arrival> ArrivalFinder::of(const MatchedCollective& collective) const {
  std::vector<Arrival> arrivals;
  std::vector<nanoseconds> starts;
  std::vector<nanoseconds> idle_since;
  for (const MatchedCollective::Member& member : collective.members) {
    const DeviceEvent& event = job_.recordings[member.rank].device_events.at(member.event);
    starts.push_back(clocks_.to_common(member.rank, event.start));
    arrivals.push_back({starts.back(), clocks_.to_common(member.rank, event.end)});
    const std::vector<nanoseconds>& busy = busy_until_[member.rank];
    if (!busy.empty()) idle_since.push_back(clocks_.to_common(member.rank, busy[member.event]));
  }
  if (idle_since.size() == starts.size() && 2 * spread(starts) < spread(idle_since))
    for (std::size_t i = 0; i < arrivals.size(); ++i) arrivals[i].start = idle_since[i];
  return arrivals;
}

}  // namespace scaleworth::trace
