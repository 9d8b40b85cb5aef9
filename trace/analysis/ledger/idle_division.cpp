// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger/idle_division.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

using attribution::HostCause;
using attribution::LedgerPart;

/// The parts of `stretches` within `range`, appended.
void append_within(const std::vector<HostStretch>& stretches,
                   TimeInterval range,
                   std::vector<HostStretch>& result) {
  if (range.start >= range.end) return;
  auto next = std::upper_bound(
      stretches.begin(), stretches.end(), range.start, [](nanoseconds time, const HostStretch& s) {
        return time < s.end;
      });
  for (; next != stretches.end() && next->start < range.end; ++next) {
    result.push_back(
        {std::max(next->start, range.start), std::min(next->end, range.end), next->cause});
  }
}

/// What covers `range`: the thread's own events, and between them what holds up all threads.
void cover(const HostThread* thread,
           const std::vector<HostStretch>& everywhere,
           TimeInterval range,
           std::vector<HostStretch>& result) {
  result.clear();
  if (thread != nullptr) append_within(thread->stretches, range, result);
  const std::size_t own = result.size();
  nanoseconds from = range.start;
  for (std::size_t index = 0; index < own; ++index) {
    append_within(everywhere, {from, result[index].start}, result);
    from = result[index].end;
  }
  append_within(everywhere, {from, range.end}, result);
  std::inplace_merge(result.begin(),
                     result.begin() + static_cast<std::ptrdiff_t>(own),
                     result.end(),
                     [](const HostStretch& a, const HostStretch& b) { return a.start < b.start; });
}

}  // namespace

const std::vector<IdlePiece>& IdleDivision::divide(const IdleGap& gap) {
  pieces_.clear();
  const auto& events = rank_.recording().device_events;
  const HostEvent* launch = gap.next == no_index ? nullptr : evidence_.launch(events[gap.next]);
  if (launch == nullptr) {
    without_launch(gap);
    return pieces_;
  }
  const nanoseconds launched = std::clamp(rank_.end(*launch), gap.start, gap.end);
  late_host(launch->thread, {gap.start, launched});
  after_launch(gap, *launch, launched);
  return pieces_;
}

void IdleDivision::late_host(std::uint32_t index, TimeInterval range) {
  const HostThread* thread = evidence_.thread(index);
  cover(thread, evidence_.everywhere(), range, covering_);
  nanoseconds from = range.start;
  bool ran_dry = false;
  for (const HostStretch& stretch : covering_) {
    uncovered(thread, {from, stretch.start}, ran_dry);
    if (stretch.cause) {
      add({stretch.start, stretch.end}, LedgerPart::host_late, *stretch.cause);
    } else {
      add({stretch.start, stretch.end}, LedgerPart::profiler_overhead, HostCause::other);
    }
    ran_dry = ran_dry || stretch.cause == HostCause::synchronizing_call;
    from = stretch.end;
  }
  uncovered(thread, {from, range.end}, ran_dry);
}

void IdleDivision::uncovered(const HostThread* thread, TimeInterval range, bool ran_dry) {
  const HostCause dispatching = ran_dry ? HostCause::synchronizing_call : HostCause::launch_bound;
  nanoseconds from = range.start;
  if (thread != nullptr) {
    const auto& calls = thread->dispatching;
    auto next = std::upper_bound(
        calls.begin(), calls.end(), range.start, [](nanoseconds time, const TimeInterval& call) {
          return time < call.end;
        });
    for (; next != calls.end() && next->start < range.end; ++next) {
      const nanoseconds start = std::max(next->start, range.start);
      const nanoseconds end = std::min(next->end, range.end);
      add({from, start}, LedgerPart::host_late, HostCause::other);
      add({start, end}, LedgerPart::host_late, dispatching);
      from = std::max(from, end);
    }
  }
  add({from, range.end}, LedgerPart::host_late, HostCause::other);
}

void IdleDivision::after_launch(const IdleGap& gap, const HostEvent& launch, nanoseconds from) {
  if (from >= gap.end) return;
  const LedgerPart part = rest_part(gap, launch, from);
  cover(evidence_.thread(launch.thread), evidence_.everywhere(), {from, gap.end}, covering_);
  for (const HostStretch& stretch : covering_) {
    if (stretch.cause) continue;
    add({from, stretch.start}, part, HostCause::other);
    add({stretch.start, stretch.end}, LedgerPart::profiler_overhead, HostCause::other);
    from = stretch.end;
  }
  add({from, gap.end}, part, HostCause::other);
}

LedgerPart IdleDivision::rest_part(const IdleGap& gap,
                                   const HostEvent& launch,
                                   nanoseconds from) const {
  const auto& events = rank_.recording().device_events;
  const bool queued = from == gap.start && gap.end - rank_.end(launch) > longest_launch;
  const bool stream_was_free =
      gap.predecessor == no_index || rank_.end(events[gap.predecessor]) < gap.start;
  if (queued && stream_was_free && gap.last != no_index) return LedgerPart::dependency_idle;
  if (gap.end - from <= longest_launch) return LedgerPart::launch_gap;
  const HostEvent* earlier =
      gap.predecessor == no_index ? nullptr : evidence_.launch(events[gap.predecessor]);
  const nanoseconds after = earlier == nullptr ? nanoseconds::min() : rank_.end(*earlier);
  if (evidence_.told_to_wait(events[gap.next].stream, after, rank_.start(launch)))
    return LedgerPart::dependency_idle;
  return LedgerPart::unattributed;
}

void IdleDivision::without_launch(const IdleGap& gap) {
  const auto main = evidence_.main_thread();
  const HostThread* thread = main ? evidence_.thread(*main) : nullptr;
  const bool over = gap.next == no_index;
  const nanoseconds known = over && evidence_.last_end()
                                ? std::clamp(*evidence_.last_end(), gap.start, gap.end)
                                : gap.start;
  cover(thread, evidence_.everywhere(), {gap.start, gap.end}, covering_);
  nanoseconds from = gap.start;
  const auto rest = [&](nanoseconds until) {
    add({from, std::min(until, known)}, LedgerPart::host_late, HostCause::other);
    add({std::max(from, known), until}, LedgerPart::unattributed, HostCause::other);
  };
  for (const HostStretch& stretch : covering_) {
    rest(stretch.start);
    if (stretch.cause) {
      add({stretch.start, stretch.end}, LedgerPart::host_late, *stretch.cause);
    } else {
      add({stretch.start, stretch.end}, LedgerPart::profiler_overhead, HostCause::other);
    }
    from = stretch.end;
  }
  rest(gap.end);
}

void IdleDivision::add(TimeInterval range, LedgerPart part, HostCause cause) {
  if (range.start < range.end) pieces_.push_back({range.start, range.end, part, cause});
}

}  // namespace scaleworth::trace
