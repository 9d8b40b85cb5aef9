// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/span_recorder.h"

namespace scaleworth::probes::host {
namespace {

std::int64_t to_ns(TrainingClock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

std::int32_t SpanRecorder::intern(std::string name) {
  names_.push_back(std::move(name));
  return static_cast<std::int32_t>(names_.size()) - 1;
}

void SpanRecorder::add(Activity activity,
                       std::int32_t name,
                       std::int32_t sequence,
                       TrainingClock::time_point start,
                       TrainingClock::time_point end) noexcept {
  if (step_ < 0) return;
  if (spans_.size() == spans_.capacity()) {
    ++dropped_;
    return;
  }
  spans_.push_back({to_ns(start), to_ns(end), step_, sequence, name, activity});
}

void append_spans(const std::vector<RecordedSpan>& spans,
                  const std::vector<std::string>& names,
                  Rank rank,
                  std::chrono::nanoseconds offset,
                  Timeline& timeline) {
  for (const RecordedSpan& span : spans) {
    timeline.spans.push_back({rank,
                              span.step,
                              span.activity,
                              span.sequence,
                              std::chrono::nanoseconds(span.start_ns) + offset,
                              std::chrono::nanoseconds(span.end_ns) + offset,
                              names.at(static_cast<std::size_t>(span.name))});
  }
}

}  // namespace scaleworth::probes::host
