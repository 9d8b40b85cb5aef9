// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/format/ranks/assign_ranks.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

/// Times behind this (September 2001) count from 1970, so that recordings of any host compare.
constexpr nanoseconds wall_clock_begins{1'000'000'000'000'000'000};
/// What clocks of hosts may differ by, and profilers in when they start.
constexpr nanoseconds tolerated_gap = std::chrono::seconds(60);

[[noreturn]] void refuse(const Recording& a, const Recording& b, const std::string& why) {
  throw UserError(
      fmt::format("{} and {} are of different runs ({}): give the recordings of one run",
                  a.origin.file,
                  b.origin.file,
                  why));
}

void compare_sizes(const std::vector<Recording>& recordings) {
  const Recording* first = nullptr;
  for (const Recording& recording : recordings) {
    if (!recording.origin.world_size) continue;
    // A communicator's size is the job's only where it holds all ranks.
    if (recording.origin.rank_basis == RankBasis::communicator) continue;
    if (!first) first = &recording;
    if (first->origin.world_size != recording.origin.world_size)
      refuse(
          *first,
          recording,
          fmt::format("{} and {} ranks", *first->origin.world_size, *recording.origin.world_size));
  }
}

void compare_names(const std::vector<Recording>& recordings) {
  const Recording* first = nullptr;
  for (const Recording& recording : recordings) {
    if (recording.origin.run.empty()) continue;
    // Communicators of parts of the job differ in one run.
    const auto count = static_cast<std::int32_t>(recordings.size());
    if (recording.origin.world_size.value_or(count) < count) continue;
    if (!first) first = &recording;
    if (first->origin.run != recording.origin.run)
      refuse(*first, recording, fmt::format("{} and {}", first->origin.run, recording.origin.run));
  }
}

struct Span {
  nanoseconds start;
  nanoseconds end;
  const Recording* recording;
};

std::optional<Span> wall_span(const Recording& recording) {
  if (recording.device_events.empty()) return std::nullopt;
  Span span{recording.device_events.front().start, nanoseconds::min(), &recording};
  for (const DeviceEvent& event : recording.device_events) span.end = std::max(span.end, event.end);
  if (span.start < wall_clock_begins) return std::nullopt;
  return span;
}

void compare_times(const std::vector<Recording>& recordings) {
  std::vector<Span> spans;
  nanoseconds longest{};
  for (const Recording& recording : recordings)
    if (const auto span = wall_span(recording)) {
      spans.push_back(*span);
      longest = std::max(longest, span->end - span->start);
    }
  std::sort(
      spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  const Span* latest = nullptr;
  for (const Span& span : spans) {
    if (latest && span.start - latest->end > std::max(tolerated_gap, longest))
      refuse(*latest->recording,
             *span.recording,
             fmt::format("{:.0f} s lie between them",
                         std::chrono::duration<double>(span.start - latest->end).count()));
    if (!latest || span.end > latest->end) latest = &span;
  }
}

}  // namespace

void refuse_mixed_runs(const Job& job) {
  compare_sizes(job.recordings);
  compare_names(job.recordings);
  compare_times(job.recordings);
}

}  // namespace scaleworth::trace
