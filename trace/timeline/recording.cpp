// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline/recording.h"

#include <algorithm>
#include <tuple>

namespace scaleworth::trace {

void sort_events(Recording& recording) {
  const auto device_order = [](const DeviceEvent& a, const DeviceEvent& b) {
    return std::tuple(a.start, b.end, a.stream, a.device) <
           std::tuple(b.start, a.end, b.stream, b.device);
  };
  const auto host_order = [](const HostEvent& a, const HostEvent& b) {
    return std::tuple(a.start, b.end, a.thread) < std::tuple(b.start, a.end, b.thread);
  };
  // Recordings are mostly in order already, and equal events keep theirs.
  if (!std::is_sorted(recording.device_events.begin(), recording.device_events.end(), device_order))
    std::stable_sort(recording.device_events.begin(), recording.device_events.end(), device_order);
  if (!std::is_sorted(recording.host_events.begin(), recording.host_events.end(), host_order))
    std::stable_sort(recording.host_events.begin(), recording.host_events.end(), host_order);
  std::stable_sort(recording.step_marks.begin(),
                   recording.step_marks.end(),
                   [](const StepMark& a, const StepMark& b) { return a.start < b.start; });
}

}  // namespace scaleworth::trace
