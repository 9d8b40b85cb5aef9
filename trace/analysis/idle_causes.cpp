// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger.h"

namespace scaleworth::trace {
namespace {
// From nested ranges to disjoint ones: each instant belongs to the innermost range over it.

/// Takes ranges in the order of their starts, outer ones first where starts agree. A range that
/// outlasts the one it began in takes the time from it. Linear in the number of ranges.
class InnermostStretches {
 public:
  void add(const HostStretch& range) {
    close_until(range.start);
    if (!open_.empty()) emit(range.start);
    from_ = range.start;
    open_.push_back(range);
  }

  std::vector<HostStretch> finish() {
    close_until(nanoseconds::max());
    return std::move(done_);
  }

 private:
  void close_until(nanoseconds time) {
    while (!open_.empty() && open_.back().end <= time) {
      emit(open_.back().end);
      open_.pop_back();
    }
  }

  void emit(nanoseconds end) {
    if (from_ < end) {
      done_.push_back({from_, end, open_.back().cause});
      from_ = end;
    }
  }

  std::vector<HostStretch> open_;
  std::vector<HostStretch> done_;
  nanoseconds from_{};
};

using attribution::HostCause;

bool is_profiler(const HostEvent& event) {
  return event.activity == HostActivity::overhead && !event.cause;
}
}  // namespace

HostEvidence::HostEvidence(const RankView& rank) : rank_(rank) {
  collect_calls();
  collect_causes();
  collect_waits();
}

void HostEvidence::collect_calls() {
  const auto& events = rank_.recording().host_events;
  std::unordered_map<std::uint32_t, std::int64_t> calls;
  for (std::uint32_t index = 0; index < events.size(); ++index) {
    const HostEvent& event = events[index];
    last_end_ = std::max(last_end_.value_or(rank_.end(event)), rank_.end(event));
    if (!is_call(event)) continue;
    if (event.correlation != 0) launches_.push_back({event.correlation, index});
    ++calls[event.thread];
    auto& dispatching = threads_[event.thread].dispatching;
    if (!dispatching.empty() &&
        rank_.start(event) - dispatching.back().end <= longest_dispatch_pause) {
      dispatching.back().end = std::max(dispatching.back().end, rank_.end(event));
    } else {
      dispatching.push_back({rank_.start(event), rank_.end(event)});
    }
  }
  // Most tools number calls as they come.
  if (!std::ranges::is_sorted(launches_, {}, &Launch::correlation))
    std::ranges::stable_sort(launches_, {}, &Launch::correlation);
  std::int64_t most = 0;
  for (const auto& [thread, count] : calls) {
    if (count < most || (count == most && main_thread_ && *main_thread_ < thread)) continue;
    most = count;
    main_thread_ = thread;
  }
}

void HostEvidence::collect_causes() {
  std::unordered_map<std::uint32_t, InnermostStretches> of_thread;
  InnermostStretches everywhere;
  for (const HostEvent& event : rank_.recording().host_events) {
    if (!event.cause && !is_profiler(event)) continue;
    const HostStretch stretch{rank_.start(event), rank_.end(event), event.cause};
    const auto found = threads_.find(event.thread);
    const bool makes_calls = found != threads_.end() && !found->second.dispatching.empty();
    of_thread[event.thread].add(stretch);
    if (event.cause == HostCause::garbage_collection || (is_profiler(event) && !makes_calls))
      everywhere.add(stretch);
  }
  for (auto& [thread, stretches] : of_thread) threads_[thread].stretches = stretches.finish();
  everywhere_ = everywhere.finish();
}

void HostEvidence::collect_waits() {
  const auto& recording = rank_.recording();
  for (const HostEvent& event : recording.host_events) {
    if (event.synchronization >= recording.synchronizations.size()) continue;
    const Synchronization& wait = recording.synchronizations[event.synchronization];
    if (wait.kind != Synchronization::Kind::stream_wait_event || !wait.stream) continue;
    stream_waits_[*wait.stream].push_back(rank_.start(event));
  }
}

const HostEvent* HostEvidence::launch(const DeviceEvent& event) const {
  if (event.correlation == 0) return nullptr;
  const auto found =
      std::ranges::lower_bound(launches_, event.correlation, {}, &Launch::correlation);
  if (found == launches_.end() || found->correlation != event.correlation) return nullptr;
  return &rank_.recording().host_events[found->event];
}

const HostThread* HostEvidence::thread(std::uint32_t index) const {
  const auto found = threads_.find(index);
  return found == threads_.end() ? nullptr : &found->second;
}

bool HostEvidence::waits_by_request(std::uint32_t stream,
                                    nanoseconds after,
                                    nanoseconds until) const {
  const auto found = stream_waits_.find(stream);
  if (found == stream_waits_.end()) return false;
  const auto next = std::ranges::lower_bound(found->second, after);
  return next != found->second.end() && *next <= until;
}

namespace {
/// The parts of `stretches` within `range`, appended.
void append_within(const std::vector<HostStretch>& stretches,
                   TimeInterval range,
                   std::vector<HostStretch>& result) {
  if (range.start >= range.end) return;
  auto next = std::ranges::upper_bound(stretches, range.start, {}, &HostStretch::end);
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
  std::ranges::inplace_merge(
      result, result.begin() + static_cast<std::ptrdiff_t>(own), {}, &HostStretch::start);
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
    add(stretch);
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
    auto next = std::ranges::upper_bound(calls, range.start, {}, &TimeInterval::end);
    for (; next != calls.end() && next->start < range.end; ++next) {
      const nanoseconds start = std::max(next->start, range.start);
      const nanoseconds end = std::min(next->end, range.end);
      add({from, start}, Part::host_late, HostCause::other);
      add({start, end}, Part::host_late, dispatching);
      from = std::max(from, end);
    }
  }
  add({from, range.end}, Part::host_late, HostCause::other);
}

void IdleDivision::after_launch(const IdleGap& gap, const HostEvent& launch, nanoseconds from) {
  if (from >= gap.end) return;
  const Part part = rest_part(gap, launch, from);
  cover(evidence_.thread(launch.thread), evidence_.everywhere(), {from, gap.end}, covering_);
  for (const HostStretch& stretch : covering_) {
    if (stretch.cause) continue;
    add({from, stretch.start}, part, HostCause::other);
    add(stretch);
    from = stretch.end;
  }
  add({from, gap.end}, part, HostCause::other);
}

Part IdleDivision::rest_part(const IdleGap& gap, const HostEvent& launch, nanoseconds from) const {
  const auto& events = rank_.recording().device_events;
  const bool queued = from == gap.start && gap.end - rank_.end(launch) > longest_launch;
  const bool stream_was_free =
      gap.predecessor == no_index || rank_.end(events[gap.predecessor]) < gap.start;
  if (queued && stream_was_free && gap.last != no_index) return Part::dependency_idle;
  if (gap.end - from <= longest_launch) return Part::launch_gap;
  const HostEvent* earlier =
      gap.predecessor == no_index ? nullptr : evidence_.launch(events[gap.predecessor]);
  const nanoseconds after = earlier == nullptr ? nanoseconds::min() : rank_.end(*earlier);
  if (evidence_.waits_by_request(events[gap.next].stream, after, rank_.start(launch)))
    return Part::dependency_idle;
  return Part::unattributed;
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
    add({from, std::min(until, known)}, Part::host_late, HostCause::other);
    add({std::max(from, known), until}, Part::unattributed, HostCause::other);
  };
  for (const HostStretch& stretch : covering_) {
    rest(stretch.start);
    add(stretch);
    from = stretch.end;
  }
  rest(gap.end);
}

void IdleDivision::add(const HostStretch& stretch) {
  add({stretch.start, stretch.end},
      stretch.cause ? Part::host_late : Part::profiler_overhead,
      stretch.cause.value_or(HostCause::other));
}

void IdleDivision::add(TimeInterval range, Part part, HostCause cause) {
  if (range.start < range.end) pieces_.push_back({range.start, range.end, part, cause});
}
}  // namespace scaleworth::trace
