// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/finish.h"

#include "trace/format/json/number.h"

#include <algorithm>
#include <tuple>

namespace scaleworth::trace {

namespace {

/// Drops what `unwanted` says of the events in order, and counts it.
template <typename Events, typename Unwanted>
void drop(Events& events, Recording& recording, const char* loss, Unwanted unwanted) {
  const auto end = std::remove_if(events.begin(), events.end(), unwanted);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses[loss] += dropped;
  events.erase(end, events.end());
}

/// Events at the same time and place are put next to their doubles; without a correlation nothing
/// tells doubles apart, and those keep their order.
template <typename Events, typename Place, typename Identity>
void drop_repeated(Events& events, Recording& recording, Place place, Identity identity) {
  for (auto run = events.begin(); run != events.end();) {
    const auto end = std::find_if(
        run, events.end(), [&](const auto& event) { return place(event) != place(*run); });
    if (end - run > 1)
      std::stable_sort(
          run, end, [&](const auto& a, const auto& b) { return identity(a) < identity(b); });
    run = end;
  }
  const auto same = [&](const auto& a, const auto& b) {
    return a.correlation != 0 && place(a) == place(b) && identity(a) == identity(b);
  };
  const auto end = std::unique(events.begin(), events.end(), same);
  const auto dropped = events.end() - end;
  if (dropped > 0) recording.losses["duplicate_events"] += dropped;
  events.erase(end, events.end());
}

/// Each part is within +-2^61, so that the sum is within 64 bits.
template <typename Event>
bool shifted_out_of_range(Event& event, std::chrono::nanoseconds base) {
  event.start += base;
  event.end += base;
  const auto farthest = std::chrono::nanoseconds(farthest_nanosecond);
  return event.start < -farthest || event.end > farthest;
}

}  // namespace

void shift_times(Recording& recording, std::chrono::nanoseconds base) {
  const auto out = [&](auto& event) { return shifted_out_of_range(event, base); };
  drop(recording.device_events, recording, "events_out_of_range", out);
  drop(recording.host_events, recording, "events_out_of_range", out);
  drop(recording.step_marks, recording, "events_out_of_range", out);
}

void place_synchronizations(Recording& recording) {
  if (recording.synchronizations.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;
  for (const auto& event : recording.host_events)
    if (event.activity == HostActivity::runtime_call || event.activity == HostActivity::driver_call)
      calls.emplace_back(event.correlation, event.thread);
  std::sort(calls.begin(), calls.end());
  for (auto& event : recording.host_events) {
    if (event.activity != HostActivity::synchronization) continue;
    const auto call =
        std::lower_bound(calls.begin(), calls.end(), std::pair(event.correlation, 0U));
    if (call != calls.end() && call->first == event.correlation) event.thread = call->second;
  }
}

void sort_and_drop_duplicates(Recording& recording) {
  sort_events(recording);
  using DeviceIdentity = std::tuple<std::uint64_t, std::uint64_t, NameId>;
  using HostIdentity = std::tuple<std::uint64_t, HostActivity, NameId>;
  drop_repeated(
      recording.device_events,
      recording,
      [](const DeviceEvent& e) { return std::tuple(e.start, e.end, e.stream, e.device); },
      [](const DeviceEvent& e) {
        return e.correlation == 0 ? DeviceIdentity{}
                                  : DeviceIdentity(e.correlation, e.graph_node, e.name);
      });
  drop_repeated(
      recording.host_events,
      recording,
      [](const HostEvent& e) { return std::tuple(e.start, e.end, e.thread); },
      [](const HostEvent& e) {
        return e.correlation == 0 ? HostIdentity{}
                                  : HostIdentity(e.correlation, e.activity, e.name);
      });
  auto& marks = recording.step_marks;
  const auto same = [](const StepMark& a, const StepMark& b) {
    return std::tuple(a.number, a.start, a.end) == std::tuple(b.number, b.start, b.end);
  };
  marks.erase(std::unique(marks.begin(), marks.end(), same), marks.end());
}

}  // namespace scaleworth::trace
