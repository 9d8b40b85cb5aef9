// SPDX-License-Identifier: Apache-2.0
/// When to record, decided from what the program does: its steps, its ranges, its calls of the
/// profiler API, and the time.
#pragma once

#include "trace/capture/settings.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::gpu {

/// An open range by what closes it: a thread and depth for push and pop, an id for start and end.
struct RangeKey {
  std::uint64_t thread = 0;
  std::uint64_t domain = 0;
  std::uint64_t depth_or_id = 0;
  friend bool operator==(const RangeKey&, const RangeKey&) = default;
};

/// Used by any thread. All conditions that were asked for have to hold at once.
class WindowControl {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit WindowControl(trace::CaptureWindow window);

  /// Whether to record at this moment.
  bool open(Time now);
  /// cudaProfilerStart or cudaProfilerStop was called.
  void profiler(bool started);
  void range_opened(std::string_view name, const RangeKey& key);
  void range_closed(const RangeKey& key);

  /// Whether ranges matter at all, and whether the profiler API does.
  bool watches_ranges() const { return window_.steps.has_value() || !window_.range.empty(); }
  bool watches_profiler() const { return window_.profiler_api; }
  /// When recording has to end; absent when it does not or has not begun.
  std::optional<Time> deadline();
  /// What was waited for, in words, where recording never began; empty when it did.
  std::string never_opened();

 private:
  bool conditions_hold() const;

  const trace::CaptureWindow window_;
  std::mutex mutex_;
  bool profiling_ = false;
  bool ever_open_ = false;
  std::optional<RangeKey> range_;       // the open range of the name that was asked for
  std::optional<RangeKey> step_range_;  // of the current step
  std::optional<std::int32_t> step_;    // the current one
  std::int32_t bare_steps_ = 0;         // ranges that name a step without a number, so far
  std::optional<Time> opened_;          // when recording first began
};

}  // namespace scaleworth::gpu
