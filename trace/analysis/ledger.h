// SPDX-License-Identifier: Apache-2.0
/// `StepLedger` of every rank and step.
#pragma once

#include "trace/analysis/steps.h"
#include "trace/analysis/waits.h"

#include <map>
#include <unordered_map>

namespace scaleworth::trace {
/// Host late by its cause and the range, function or call that the host was in (NameId::none for
/// nothing recorded); of each rank, summed over its steps.
using HostTimes = std::vector<std::map<std::pair<HostCause, NameId>, nanoseconds>>;

/// Ordered by (step, rank); each entry passes check_sums.
/// Events over a step's boundary are cut at it. Events must be in the order of sort_events. `host`
/// gets the times of the steps that are not excluded; where all are, of all.
std::vector<StepLedger> build_job_ledger(const Job& job,
                                         const StepPlan& steps,
                                         const Waits& waits,
                                         const ClockMap& clocks,
                                         HostTimes* host = nullptr);

/// One rank's recording with its times on the common clock. Refers to what it is made of.
class RankView {
 public:
  RankView(const Recording& recording, const ClockMap& clocks, std::size_t rank)
      : recording_(recording), clocks_(clocks), rank_(rank) {}

  const Recording& recording() const { return recording_; }
  template <class Event>
  nanoseconds start(const Event& event) const {
    return clocks_.to_common(rank_, event.start);
  }
  /// Never before the start.
  template <class Event>
  nanoseconds end(const Event& event) const {
    return clocks_.to_common(rank_, std::max(event.start, event.end));
  }

 private:
  const Recording& recording_;
  const ClockMap& clocks_;
  std::size_t rank_;
};

/// The event that came last on each stream, by a number of the caller's.
class LastOfStream {
 public:
  /// Returns the one before; no_index for none.
  std::uint32_t exchange(const DeviceEvent& event, std::uint32_t number) {
    const std::uint64_t stream = std::uint64_t{event.device} << 32 | event.stream;
    // Most work comes on the stream of the work before it.
    if (place_ == nullptr || stream != stream_)
      place_ = &numbers_.try_emplace(stream, no_index).first->second;
    stream_ = stream;
    return std::exchange(*place_, number);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t stream_ = 0;
  std::uint32_t* place_ = nullptr;
};

/// The calls that launched a recording's device events.
class LaunchCalls {
 public:
  explicit LaunchCalls(const Recording& recording);

  /// Null when the recording does not have it. Of calls that share the correlation, the first.
  const HostEvent* of(const DeviceEvent& event) const;

 private:
  const Recording& recording_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls_;  // correlation, host event
};

/// When some kernel of each rank runs that is not communication, on the common clock.
std::vector<IntervalSet> compute_intervals(const Job& job, const ClockMap& clocks);

/// Time on the common clock during which nothing runs. Events are indices into device_events,
/// no_index for none.
struct IdleGap : TimeInterval {
  std::uint32_t next = no_index;         // that ends the gap
  std::uint32_t last = no_index;         // whose end is the gap's start
  std::uint32_t predecessor = no_index;  // before `next` on its stream
};

/// A part of an idle gap, on the common clock.
struct IdlePiece : TimeInterval {
  Part part = Part::unattributed;
  HostCause cause = HostCause::other;       // of host_late only
  NameId name = NameId::none;               // likewise: what the host was in
  UnknownWork unknown = UnknownWork::none;  // of unattributed only
};

/// The pieces of a gap, in order and without holes; valid until the next call.
using IdleDivision = std::function<const std::vector<IdlePiece>&(const IdleGap&)>;
/// Divides each idle gap of `rank`, which must outlive the result, by what its host did.
IdleDivision idle_division(const RankView& rank);

/// Time of a thread, on the common clock, under one cause: of nested host events that have one, the
/// innermost.
struct HostStretch : TimeInterval {
  std::optional<HostCause> cause;  // absent: the profiler's own work
  NameId name = NameId::none;
};

/// A range or function of a thread, and the one around it.
struct NestedRange : TimeInterval {
  NameId name = NameId::none;
  std::uint32_t outer = no_index;
};

struct HostThread {
  std::vector<HostStretch> stretches;     // disjoint, in order
  std::vector<NestedRange> ranges;        // of what has no cause, by start, outer ones first
  std::vector<HostStretch> innermost;     // of these; disjoint, in order
  std::vector<TimeInterval> dispatching;  // disjoint, in order: see longest_dispatch_pause
};

/// Calls of one thread with a pause up to this between them are one stretch of dispatching: the
/// thread does nothing but bring work to the device. Eager frameworks take 5 to 100 us per
/// operator; in a recording of PyTorch with shapes and stacks half of the late launches came
/// within 97 us and 95 % within 470 us. Who pauses longer does something else.
inline constexpr nanoseconds longest_dispatch_pause{500'000};

/// What kept each thread of a rank's host busy.
struct HostEvidence {
  std::unordered_map<std::uint32_t, HostThread> threads;
  /// What holds up all threads: garbage collection on any of them, and the profiler's work on
  /// threads that make no calls.
  std::vector<HostStretch> everywhere;
  /// What the recorder saw the program do meanwhile (asleep, no_core, computing): where nothing
  /// else says what a thread does.
  std::vector<HostStretch> sampled;

  /// O(n log n) in time, and memory in proportion to the calls.
  explicit HostEvidence(const RankView& rank);

  /// Null: the thread has no events of interest.
  const HostThread* thread(std::uint32_t index) const;
};
}  // namespace scaleworth::trace
