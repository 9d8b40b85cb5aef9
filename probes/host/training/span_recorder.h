// SPDX-License-Identifier: Apache-2.0
/// Spans of one rank, kept without allocating while they are recorded.
#pragma once

#include "src/core/span.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace scaleworth::probes::host {

using TrainingClock = std::chrono::steady_clock;

/// A span as ranks exchange it: plain memory, the name as a number of the recorder's table.
struct RecordedSpan {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t step = 0;
  std::int32_t sequence = -1;
  std::int32_t name = 0;
  Activity activity = Activity::compute;
};

class SpanRecorder {
 public:
  /// Before recording: a number for `name`. Ranks that name the same things in the same order have
  /// the same table.
  std::int32_t intern(std::string name);
  /// Makes room for `spans`; what goes beyond is dropped and counted.
  void reserve(std::size_t spans) { spans_.reserve(spans); }
  /// Spans belong to `step` from now on; those of a negative one (warm-up) are not kept.
  void begin_step(std::int32_t step) { step_ = step; }

  void add(Activity activity,
           std::int32_t name,
           std::int32_t sequence,
           TrainingClock::time_point start,
           TrainingClock::time_point end) noexcept;

  const std::vector<RecordedSpan>& spans() const { return spans_; }
  const std::vector<std::string>& names() const { return names_; }
  std::size_t dropped() const { return dropped_; }

 private:
  std::vector<RecordedSpan> spans_;
  std::vector<std::string> names_;
  std::int32_t step_ = -1;
  std::size_t dropped_ = 0;
};

/// Appends a rank's spans, shifted by `offset`, to `timeline`.
void append_spans(const std::vector<RecordedSpan>& spans,
                  const std::vector<std::string>& names,
                  Rank rank,
                  std::chrono::nanoseconds offset,
                  Timeline& timeline);

}  // namespace scaleworth::probes::host
