// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/compute_cover.h"

#include <algorithm>

namespace scaleworth::trace {

using attribution::WorkClass;

ComputeCover::ComputeCover(const Recording& recording, const ClockMap& clocks, std::size_t rank) {
  std::vector<TimeInterval> ranges;
  for (const DeviceEvent& event : recording.device_events)
    if (event.work_class != WorkClass::communication && event.work_class != WorkClass::copy)
      ranges.push_back({clocks.to_common(rank, event.start), clocks.to_common(rank, event.end)});
  busy_ = IntervalSet(std::move(ranges));
  nanoseconds sum{};
  for (const TimeInterval& range : busy_.ranges()) {
    lengths_.push_back(sum);
    sum += range.end - range.start;
  }
}

nanoseconds ComputeCover::before(nanoseconds time) const {
  const auto& ranges = busy_.ranges();
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), time, [](nanoseconds t, const TimeInterval& range) {
        return t < range.start;
      });
  if (after == ranges.begin()) return nanoseconds::zero();
  const TimeInterval& last = *(after - 1);
  return lengths_[static_cast<std::size_t>(after - ranges.begin()) - 1] +
         (std::min(time, last.end) - last.start);
}

nanoseconds ComputeCover::within(TimeInterval range) const {
  if (range.end <= range.start) return nanoseconds::zero();
  return before(range.end) - before(range.start);
}

}  // namespace scaleworth::trace
