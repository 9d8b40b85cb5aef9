// SPDX-License-Identifier: Apache-2.0
/// What the host of a rank did at a time: which call launched a piece of work, and what kept each
/// thread busy.
#pragma once

#include "trace/analysis/intervals.h"
#include "trace/analysis/ledger/rank_view.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace {

/// [start, end) of a thread, on the common clock, under one cause: of nested host events that have
/// one, the innermost.
struct HostStretch {
  nanoseconds start{};
  nanoseconds end{};
  std::optional<attribution::HostCause> cause;  // absent: the profiler's own work
};

struct HostThread {
  std::vector<HostStretch> stretches;     // disjoint, in order
  std::vector<TimeInterval> dispatching;  // disjoint, in order: see HostEvidence
};

class HostEvidence {
 public:
  /// Calls of one thread with a pause up to this between them are one stretch of dispatching: the
  /// thread does nothing but bring work to the device. Eager frameworks take 5 to 100 us per
  /// operator; in a recording of PyTorch with shapes and stacks half of the late launches came
  /// within 97 us and 95 % within 470 us. Who pauses longer does something else.
  static constexpr nanoseconds longest_dispatch_pause{500'000};

  /// O(n log n) in time, and memory in proportion to the calls.
  explicit HostEvidence(const RankView& rank);

  /// The call that launched a piece of work; absent when the recording does not have it. Of calls
  /// that share the correlation, the first.
  const HostEvent* launch(const DeviceEvent& event) const;
  /// Absent: the thread has no events of interest.
  const HostThread* thread(std::uint32_t index) const;
  /// The thread with the most calls.
  std::optional<std::uint32_t> main_thread() const { return main_thread_; }
  /// What holds up all threads: garbage collection on any of them, and the profiler's work on
  /// threads that make no calls.
  const std::vector<HostStretch>& everywhere() const { return everywhere_; }
  /// Whether a stream was told, between two times of the host, to wait for an event.
  bool told_to_wait(std::uint32_t stream, nanoseconds after, nanoseconds until) const;
  /// When the last host event ends; absent without any.
  std::optional<nanoseconds> last_end() const { return last_end_; }

 private:
  struct Launch {
    std::uint64_t correlation = 0;
    std::uint32_t event = 0;
  };
  void collect_calls();
  void collect_causes();
  void collect_waits();

  const RankView& rank_;
  std::vector<Launch> launches_;  // by correlation
  std::unordered_map<std::uint32_t, HostThread> threads_;
  std::unordered_map<std::uint32_t, std::vector<nanoseconds>> stream_waits_;
  std::vector<HostStretch> everywhere_;
  std::optional<std::uint32_t> main_thread_;
  std::optional<nanoseconds> last_end_;
};

}  // namespace scaleworth::trace
