// SPDX-License-Identifier: Apache-2.0
/// `StepLedger` of every rank and step.
#pragma once

#include "src/core/step_ledger.h"
#include "trace/analysis/clocks.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/steps.h"
#include "trace/analysis/waits.h"
#include "trace/recording.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace {
// The ledger of every step of every rank of a job: src/core/step_ledger.h.

/// Ordered by (step, rank); each entry passes check_sums. Ranks are places in Job::recordings.
/// Events over a step's boundary are cut at it. Which of several kernels counts: activity_sweep.h;
/// what idle time is due to: idle_division.h. Events must be in the order of sort_events.
std::vector<attribution::StepLedger> build_job_ledger(const Job& job,
                                                      const StepPlan& steps,
                                                      const Waits& waits,
                                                      const ClockMap& clocks);

// One rank's recording with its times on the common clock.

/// Refers to what it is made of.
class RankView {
 public:
  RankView(const Recording& recording, const ClockMap& clocks, std::size_t rank)
      : recording_(recording), clocks_(clocks), rank_(rank) {}

  const Recording& recording() const { return recording_; }
  nanoseconds common(nanoseconds time) const { return clocks_.to_common(rank_, time); }
  template <class Event>
  nanoseconds start(const Event& event) const {
    return common(event.start);
  }
  /// Never before the start.
  template <class Event>
  nanoseconds end(const Event& event) const {
    return common(std::max(event.start, event.end));
  }

 private:
  const Recording& recording_;
  const ClockMap& clocks_;
  std::size_t rank_;
};

/// [start, end) on the common clock, during which nothing runs. Events are indices into
/// device_events, no_index for none.
struct IdleGap {
  nanoseconds start{};
  nanoseconds end{};
  std::uint32_t next = no_index;         // that ends the gap
  std::uint32_t last = no_index;         // whose end is the gap's start
  std::uint32_t predecessor = no_index;  // before `next` on its stream
};

// What the host of a rank did at a time: which call launched a piece of work, and what kept each
// thread busy.

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
  /// Whether a stream was made, between two times of the host, to wait for an event.
  bool waits_by_request(std::uint32_t stream, nanoseconds after, nanoseconds until) const;
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

// Why nothing ran: divides each idle gap of a rank by what its host did.
//
// A gap ends when the next piece of work begins; the call that launched it divides the gap.
//   Before the end of the call: the host was late (host_late). By what the launching thread did
//   then, the innermost event counting: the cause that a rule gives the event; the profiler's own
//   work is profiler_overhead. Time that no such event covers is launch_bound while the thread
//   dispatches (calls at most 500 us apart: HostEvidence), due to the synchronizing call when it
//   follows one within the gap (the call had let the device run dry), and `other` elsewhere.
//   After it: launched, and still not running. profiler_overhead where the profiler works;
//   dependency_idle when the work was launched more than 20 us before it began and its stream had
//   nothing to do when other streams still ran, or when the stream had been made to wait for an
//   event and the rest exceeds 20 us; launch_gap when the rest is 20 us at most (a pause between
//   kernels takes 1 to 3 us, a launch to an idle device up to 15 us); otherwise unattributed.
// Without a known launch: causes and the profiler's work on the thread that makes most calls, the
// rest unattributed. After the last work: the same, and host_late (other) while the host's events
// go on.

/// A part of an idle gap, on the common clock.
struct IdlePiece {
  nanoseconds start{};
  nanoseconds end{};
  Part part = Part::unattributed;
  attribution::HostCause cause = attribution::HostCause::other;  // of host_late only
};

class IdleDivision {
 public:
  /// Measured on recordings of V100, A100 and H100 with CUPTI: from a launch to an idle device to
  /// the kernel's start at most 15.5 us, between kernels of a stream 1 to 3 us.
  static constexpr nanoseconds longest_launch{20'000};

  explicit IdleDivision(const RankView& rank) : rank_(rank), evidence_(rank) {}

  /// The pieces of `gap`, in order and without holes; valid until the next call.
  const std::vector<IdlePiece>& divide(const IdleGap& gap);

 private:
  void late_host(std::uint32_t thread, TimeInterval range);
  void after_launch(const IdleGap& gap, const HostEvent& launch, nanoseconds from);
  void without_launch(const IdleGap& gap);
  Part rest_part(const IdleGap& gap, const HostEvent& launch, nanoseconds from) const;
  void uncovered(const HostThread* thread, TimeInterval range, bool ran_dry);
  void add(const HostStretch& stretch);
  void add(TimeInterval range, Part part, attribution::HostCause cause);

  const RankView& rank_;
  HostEvidence evidence_;
  std::vector<IdlePiece> pieces_;
  std::vector<HostStretch> covering_;
};
}  // namespace scaleworth::trace
