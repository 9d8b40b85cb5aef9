// SPDX-License-Identifier: Apache-2.0
/// Plain events: what one rank did from when to when. Probes record them, trace/ analyses them.
#pragma once

#include "src/core/lists.h"

#include <chrono>
#include <compare>
#include <cstdint>

namespace scaleworth {
/// A process of the job; cannot be mixed up with a count.
struct Rank {
  int index = 0;
  auto operator<=>(const Rank&) const = default;
};

/// Where a rank stands in a job's lists by rank, which hold only ranks with a recording: where some
/// are missing, place i is not rank i. Neither becomes the other by itself; of recordings
/// RankNumbers (trace/recording.h) and rank_at() (attribution.h) know both.
struct Place {
  std::uint32_t index = 0;
  auto operator<=>(const Place&) const = default;
};
constexpr Place place_at(std::size_t index) {
  return {static_cast<std::uint32_t>(index)};
}

enum class Activity : std::uint8_t {
  step,            // one whole iteration; every other span of the iteration lies inside
  compute,         // forward, backward
  optimizer,       // parameter update
  host,            // data preparation, bookkeeping
  post,            // a collective is handed over: this rank has arrived at it
  progress,        // the compute thread drives communication that is already posted
  collective_wait  // blocked until the collective `sequence` completes
};

/// As printed in traces and reports.
const char* activity_name(Activity activity);

/// One thing that one rank did, on a clock common to all ranks (see Timeline::clock_error). Spans
/// of one rank other than `step` do not overlap.
struct Span {
  Rank rank;
  std::int32_t step = 0;
  Activity activity = Activity::compute;
  std::int32_t sequence = -1;  // of the collective within the step, -1 for none
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
  std::string name;  // "forward layer 0", "all-reduce bucket 3"
};

/// All spans of one measured setting. `clock_error` bounds the offset between two ranks' clocks:
/// zero on one host (one monotonic clock), the measured residual otherwise.
/// `progress_inside_calls_only`: the communication library moves data only while a rank is inside
/// of post, progress or collective_wait (MPI without a progress thread), so that a rank that
/// computes holds up its collectives. Then every rank marks each completion: a collective that a
/// progress call completed has a collective_wait of no length at the end of that call.
struct Timeline {
  int ranks = 0;
  std::chrono::nanoseconds clock_error{};
  std::string clock_method;
  bool progress_inside_calls_only = false;
  std::vector<Span> spans;
};
}  // namespace scaleworth
