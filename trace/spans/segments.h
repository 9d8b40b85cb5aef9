// SPDX-License-Identifier: Apache-2.0
/// The disjoint form of a timeline: each step of each rank cut into spans that follow each other,
/// whatever the recording looked like.
#pragma once

#include "src/core/span.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// The part of a span that lies inside its step and that no earlier span of the rank covers.
struct Segment {
  std::size_t span = 0;  // index into Timeline::spans
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

/// One step of one rank: segments in time order, disjoint, inside [start, end].
struct StepSegments {
  std::int32_t step = 0;
  Rank rank;
  std::size_t span = 0;  // index of the step's own span
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
  std::vector<Segment> segments;
};

/// What the recording lacked or said twice; all zero for a sound one.
struct TimelineLosses {
  std::int64_t invalid_spans = 0;    // not is_valid: ignored
  std::int64_t duplicate_steps = 0;  // a second step span of the same rank and step: ignored
  std::int64_t missing_steps = 0;    // a rank lacks the span of a step that another rank has
  std::int64_t orphan_spans = 0;     // spans of a step whose own span is missing: ignored
  std::int64_t overlapping_spans = 0;
  std::chrono::nanoseconds overlapping_time{};  // cut away from the later of two spans
  std::int64_t outside_spans = 0;
  std::chrono::nanoseconds outside_time{};  // cut away before the step's start or after its end
};

struct SegmentedTimeline {
  std::vector<StepSegments> steps;  // by (step, rank)
  TimelineLosses losses;
};

/// A span of one of `ranks` ranks that does not end before it starts; times within +-2^61 ns, so
/// that no difference overflows.
bool is_valid(const Span& span, int ranks);

/// Cuts every step into disjoint segments. Of overlapping spans the one that starts first keeps
/// the common time (then the one that ends first, then by activity, sequence and name), so the
/// order of `timeline.spans` does not matter. A span of no length inside its step is kept.
SegmentedTimeline segment(const Timeline& timeline);

/// The losses as counters with units in their names, only those that are not zero.
std::map<std::string, double> loss_counters(const TimelineLosses& losses);

}  // namespace scaleworth::trace
