// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export_writer.h"

namespace scaleworth::trace {
namespace {
using std::chrono::nanoseconds;

/// What is open in one lane, by its end; the innermost last.
using OpenEnds = std::vector<nanoseconds>;

bool fits(OpenEnds& open, const TimeInterval& event, Nesting nesting) {
  while (!open.empty() && open.back() <= event.start) open.pop_back();
  return open.empty() || (nesting == Nesting::inside_allowed && event.end <= open.back());
}
}  // namespace

std::vector<std::uint32_t> assign_lanes(const std::vector<TimeInterval>& events, Nesting nesting) {
  std::vector<OpenEnds> lanes;
  std::vector<std::uint32_t> result;
  result.reserve(events.size());
  for (const TimeInterval& event : events) {
    std::uint32_t lane = 0;
    while (lane < lanes.size() && !fits(lanes[lane], event, nesting)) ++lane;
    if (lane == lanes.size() && lane < most_lanes) lanes.emplace_back();
    if (lane < lanes.size()) lanes[lane].push_back(event.end);
    result.push_back(lane);
  }
  return result;
}
}  // namespace scaleworth::trace
