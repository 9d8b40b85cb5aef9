// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger.h"
#include "trace/capture_settings.h"

#include <map>
#include <memory>

namespace scaleworth::trace {
namespace {

/// From nested ranges to disjoint ones: each instant belongs to the innermost range over it. Takes
/// them in the order of their starts, outer ones first where starts agree. A range that outlasts
/// the one it began in takes the time from it. Linear in the number of ranges.
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
      done_.push_back({{from_, end}, open_.back().cause, open_.back().name});
      from_ = end;
    }
  }

  std::vector<HostStretch> open_;
  std::vector<HostStretch> done_;
  nanoseconds from_{};
};

bool is_profiler(const HostEvent& event) {
  return event.activity == HostActivity::overhead && !event.cause;
}
bool is_sampled(const HostEvent& event) {
  return event.activity == HostActivity::overhead &&
         (event.cause == HostCause::asleep || event.cause == HostCause::no_core ||
          event.cause == HostCause::computing);
}
/// What says, without a rule, what its thread does.
bool names_a_range(const HostEvent& event) {
  return event.activity == HostActivity::annotation || event.activity == HostActivity::operation;
}
/// The range of a step says where the step is, and not what the host does in it.
bool marks_step(const Recording& recording, const HostEvent& event) {
  const auto& marks = recording.step_marks;
  const auto found = std::ranges::lower_bound(marks, event.start, {}, &StepMark::start);
  return (found != marks.end() && found->start == event.start && found->end == event.end) ||
         parse_step_name(recording.names.at(event.name));
}
/// The parts of `stretches` within `range`, appended.
void append_within(const std::vector<HostStretch>& stretches,
                   TimeInterval range,
                   std::vector<HostStretch>& result) {
  for_each_within(
      stretches, range, [&](const HostStretch& one, nanoseconds start, nanoseconds end) {
        result.push_back({{start, end}, one.cause, one.name});
      });
}

/// From ranges by start, outer ones first: each gets the one around it.
void nest(std::vector<NestedRange>& ranges) {
  std::uint32_t open = no_index;
  for (std::uint32_t index = 0; index < ranges.size(); ++index) {
    while (open != no_index && ranges[open].end <= ranges[index].start) open = ranges[open].outer;
    ranges[index].outer = std::exchange(open, index);
  }
}

nanoseconds overlap(const TimeInterval& a, const TimeInterval& b) {
  return std::max(nanoseconds::zero(), std::min(a.end, b.end) - std::max(a.start, b.start));
}

/// What a person would say that the host was in: the innermost range over more than half of
/// `stretch`. One that lies for the most part outside of `gap` is no reason for it (main, a loop
/// over all steps). Null for none.
const NestedRange* range_over(const std::vector<NestedRange>& ranges,
                              TimeInterval stretch,
                              TimeInterval gap) {
  // Over more than half is over the middle.
  const nanoseconds middle = stretch.start + (stretch.end - stretch.start) / 2;
  auto next = std::ranges::upper_bound(ranges, middle, {}, &NestedRange::start);
  if (next == ranges.begin()) return nullptr;
  for (auto index = static_cast<std::uint32_t>(next - ranges.begin() - 1); index != no_index;
       index = ranges[index].outer) {
    const NestedRange& range = ranges[index];
    if (2 * overlap(range, stretch) > stretch.end - stretch.start)
      return 2 * overlap(range, gap) >= range.end - range.start ? &range : nullptr;
  }
  return nullptr;
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
  std::ranges::inplace_merge(result, result.begin() + own, {}, &HostStretch::start);
}

/// Measured on recordings of V100, A100 and H100 with CUPTI: from a launch to an idle device to the
/// kernel's start at most 15.5 us, between kernels of a stream 1 to 3 us.
constexpr nanoseconds longest_launch{20'000};

/// A gap ends when the next piece of work begins; the call that launched it divides the gap.
///   Where work was launched and is not recorded, from then until a call that waits has returned:
///   unattributed, that work.
///   Before the end of the call: the host was late (host_late). By what the launching thread did
///   then, the innermost event counting: the cause that a rule gives the event; the profiler's own
///   work is profiler_overhead. Time that no such event covers is launch_bound while the thread
///   dispatches (see longest_dispatch_pause); behind a synchronizing call within the gap, as much
///   of it as that had waited before is due to the call (it had let the device run dry); `other` or
///   what was sampled elsewhere.
///   After it: launched, and still not running. profiler_overhead where the profiler works;
///   dependency_idle when the work was launched more than 20 us before it began and its stream had
///   nothing to do when other streams still ran, or when the stream had been made to wait for an
///   event and the rest exceeds 20 us; launch_gap when the rest is 20 us at most (a pause between
///   kernels takes 1 to 3 us, a launch to an idle device up to 15 us); otherwise unattributed.
/// Without a known launch: causes and the profiler's work on the thread that makes most calls, the
/// rest unattributed. After the last work: the same, and host_late (other) while the host's events
/// go on.
class Divider {
 public:
  explicit Divider(const RankView& rank)
      : rank_(rank), evidence_(rank), launches_(rank.recording()) {
    const Recording& recording = rank.recording();
    std::map<std::uint32_t, std::int64_t> calls;  // by thread
    for (const HostEvent& event : recording.host_events) {
      last_end_ = std::max(last_end_.value_or(rank.end(event)), rank.end(event));
      if (is_call(event)) ++calls[event.thread];
      if (is_call(event) && event.cause == HostCause::synchronizing_call &&
          !recording.lost_launches.empty())
        waits_.push_back({rank.start(event), rank.end(event)});
      if (is_call(event) && event.correlation != 0 &&
          std::ranges::binary_search(recording.lost_launches, event.correlation))
        lost_.push_back({rank.start(event), rank.end(event)});
      const Synchronization* wait = synchronization_of(recording, event);
      if (wait != nullptr && wait->kind == Synchronization::Kind::stream_wait_event && wait->stream)
        stream_waits_[*wait->stream].push_back(rank.start(event));
    }
    // Without a GPU the thread that computes is the one that makes the work.
    for (const DeviceEvent& event : recording.device_events)
      if (recording.origin.on_processor && is_compute(event)) ++calls[event.stream];
    const auto most = std::ranges::max_element(calls, {}, [](const auto& a) { return a.second; });
    if (most != calls.end()) main_thread_ = evidence_.thread(most->first);
  }

  const std::vector<IdlePiece>& divide(const IdleGap& gap) {
    pieces_.clear();
    if (const auto lost = lost_within(gap)) {
      IdleGap before = gap;
      IdleGap after = gap;
      before.end = lost->start;
      after.start = lost->end;
      divide_known(before);
      add({*lost, Part::unattributed, HostCause::other, {}, UnknownWork::missing_kernels});
      divide_known(after);
    } else {
      divide_known(gap);
    }
    return pieces_;
  }

 private:
  void divide_known(const IdleGap& gap) {
    if (gap.start >= gap.end) return;
    gap_ = gap;
    if (rank_.recording().origin.on_processor) return late_host(main_thread_, gap);
    if (const HostEvent* launch = launch_of(gap.next)) {
      const nanoseconds launched = std::clamp(rank_.end(*launch), gap.start, gap.end);
      late_host(evidence_.thread(launch->thread), {gap.start, launched});
      after_launch(gap, *launch, launched);
    } else {
      without_launch(gap);
    }
  }

  /// When work that was launched and not recorded may run: between the launches of what runs before
  /// and after the gap, until a call that waits for it has returned.
  std::optional<TimeInterval> lost_within(const IdleGap& gap) const {
    if (lost_.empty()) return std::nullopt;
    const HostEvent* earlier = launch_of(gap.last);
    const HostEvent* next = launch_of(gap.next);
    const auto first =
        std::ranges::upper_bound(lost_,
                                 earlier == nullptr ? nanoseconds::min() : rank_.start(*earlier),
                                 {},
                                 &TimeInterval::start);
    const nanoseconds before = std::min(gap.end, next == nullptr ? gap.end : rank_.start(*next));
    if (first == lost_.end() || first->start >= before) return std::nullopt;
    const auto wait = std::ranges::lower_bound(waits_, first->start, {}, &TimeInterval::start);
    const TimeInterval time{std::max(gap.start, first->end),
                            wait == waits_.end() ? gap.end : std::min(gap.end, wait->end)};
    return time.start < time.end ? std::optional(time) : std::nullopt;
  }

  const HostEvent* launch_of(std::uint32_t event) const {
    return event == no_index ? nullptr : launches_.of(rank_.recording().device_events[event]);
  }

  void late_host(const HostThread* thread, TimeInterval range) {
    cover(thread, evidence_.everywhere, range, covering_);
    nanoseconds from = range.start;
    nanoseconds slack{};
    for (const HostStretch& stretch : covering_) {
      uncovered(thread, {from, stretch.start}, slack);
      add(stretch);
      if (stretch.cause == HostCause::synchronizing_call)
        slack += waited_before(thread, stretch, range.start);
      from = stretch.end;
    }
    uncovered(thread, {from, range.end}, slack);
  }

  /// How long the call of `stretch` had waited when the gap began: without it the host could have
  /// been so much earlier with what follows.
  static nanoseconds waited_before(const HostThread* thread,
                                   const HostStretch& stretch,
                                   nanoseconds gap) {
    if (thread == nullptr) return nanoseconds::zero();
    const auto whole =
        std::ranges::lower_bound(thread->stretches, stretch.end, {}, &HostStretch::end);
    const bool found = whole != thread->stretches.end() && whole->start < gap;
    return found ? gap - whole->start : nanoseconds::zero();
  }

  /// Of dispatching as much is due to a synchronizing call as that had waited, the rest to
  /// launching.
  void uncovered(const HostThread* thread, TimeInterval range, nanoseconds& slack) {
    nanoseconds from = range.start;
    const auto dispatched = [&](const TimeInterval&, nanoseconds start, nanoseconds end) {
      without_cause(thread, {from, start});
      const nanoseconds due = std::min(slack, end - start);
      add({{start, start + due}, Part::host_late, HostCause::synchronizing_call});
      add({{start + due, end}, Part::host_late, HostCause::launch_bound});
      slack -= due;
      from = std::max(from, end);
    };
    if (thread != nullptr) for_each_within(thread->dispatching, range, dispatched);
    without_cause(thread, {from, range.end});
  }

  /// By the range or function over most of `range`, else by the innermost ones, else by what was
  /// sampled.
  void without_cause(const HostThread* thread, TimeInterval range) {
    if (thread == nullptr || range.start >= range.end) return without_name(range);
    if (const NestedRange* one = range_over(thread->ranges, range, gap_)) {
      const nanoseconds start = std::max(range.start, one->start);
      const nanoseconds end = std::min(range.end, one->end);
      without_cause(thread, {range.start, start});
      add({{start, end}, Part::host_late, HostCause::other, one->name});
      return without_cause(thread, {end, range.end});
    }
    nanoseconds from = range.start;
    const auto named = [&](const HostStretch& one, nanoseconds start, nanoseconds end) {
      without_name({from, start});
      add({{start, end}, Part::host_late, HostCause::other, one.name});
      from = end;
    };
    for_each_within(thread->innermost, range, named);
    without_name({from, range.end});
  }

  void without_name(TimeInterval range) {
    nanoseconds from = range.start;
    const auto seen = [&](const HostStretch& one, nanoseconds start, nanoseconds end) {
      add({{from, start}, Part::host_late, HostCause::other});
      add({{start, end}, Part::host_late, *one.cause});
      from = end;
    };
    for_each_within(evidence_.sampled, range, seen);
    add({{from, range.end}, Part::host_late, HostCause::other});
  }

  void after_launch(const IdleGap& gap, const HostEvent& launch, nanoseconds from) {
    if (from >= gap.end) return;
    const Part part = rest_part(gap, launch, from);
    const bool no_cause = part == Part::unattributed;
    // Before all recorded work only what is not recorded can hold the queue.
    const auto rest =
        no_cause && gap.last == no_index ? UnknownWork::awaited_work : UnknownWork::none;
    cover(evidence_.thread(launch.thread), evidence_.everywhere, {from, gap.end}, covering_);
    for (const HostStretch& stretch : covering_) {
      // The host waits for the device, where nothing recorded runs.
      const bool awaited = no_cause && stretch.cause == HostCause::synchronizing_call;
      if (stretch.cause && !awaited) continue;
      add({{from, stretch.start}, part, HostCause::other, NameId::none, rest});
      awaited ? add({stretch, part, HostCause::other, NameId::none, UnknownWork::awaited_work})
              : add(stretch);
      from = stretch.end;
    }
    add({{from, gap.end}, part, HostCause::other, NameId::none, rest});
  }

  Part rest_part(const IdleGap& gap, const HostEvent& launch, nanoseconds from) const {
    const auto& events = rank_.recording().device_events;
    const bool queued = from == gap.start && gap.end - rank_.end(launch) > longest_launch;
    const bool stream_was_free =
        gap.predecessor == no_index || rank_.end(events[gap.predecessor]) < gap.start;
    if (queued && stream_was_free && gap.last != no_index) return Part::dependency_idle;
    if (gap.end - from <= longest_launch) return Part::launch_gap;
    // Whether the stream was made to wait for an event since its work before was launched.
    const auto waits = stream_waits_.find(events[gap.next].stream);
    if (waits == stream_waits_.end()) return Part::unattributed;
    const HostEvent* earlier = launch_of(gap.predecessor);
    const nanoseconds after = earlier == nullptr ? nanoseconds::min() : rank_.end(*earlier);
    const auto wait = std::ranges::lower_bound(waits->second, after);
    return wait != waits->second.end() && *wait <= rank_.start(launch) ? Part::dependency_idle
                                                                       : Part::unattributed;
  }

  void without_launch(const IdleGap& gap) {
    const bool over = gap.next == no_index;
    const nanoseconds known =
        over && last_end_ ? std::clamp(*last_end_, gap.start, gap.end) : gap.start;
    cover(main_thread_, evidence_.everywhere, gap, covering_);
    nanoseconds from = gap.start;
    const auto rest = [&](nanoseconds until) {
      without_cause(main_thread_, {from, std::min(until, known)});
      add({{std::max(from, known), until}, Part::unattributed, HostCause::other});
    };
    for (const HostStretch& stretch : covering_) {
      rest(stretch.start);
      add(stretch);
      from = stretch.end;
    }
    rest(gap.end);
  }

  void add(const HostStretch& stretch) {
    add({stretch,
         stretch.cause ? Part::host_late : Part::profiler_overhead,
         stretch.cause.value_or(HostCause::other),
         stretch.name});
  }

  void add(const IdlePiece& piece) {
    if (piece.start < piece.end) pieces_.push_back(piece);
  }

  const RankView& rank_;
  HostEvidence evidence_;
  LaunchCalls launches_;
  std::unordered_map<std::uint32_t, std::vector<nanoseconds>> stream_waits_;  // for events
  const HostThread* main_thread_ = nullptr;                                   // with the most calls
  std::optional<nanoseconds> last_end_;                                       // of all host events
  std::vector<TimeInterval> lost_;   // calls whose work is not recorded
  std::vector<TimeInterval> waits_;  // calls that wait, where there are such
  TimeInterval gap_;                 // that is divided now
  std::vector<IdlePiece> pieces_;
  std::vector<HostStretch> covering_;
};
}  // namespace

HostEvidence::HostEvidence(const RankView& rank) {
  for (const HostEvent& event : rank.recording().host_events) {
    if (!is_call(event)) continue;
    auto& dispatching = threads[event.thread].dispatching;
    if (!dispatching.empty() &&
        rank.start(event) - dispatching.back().end <= longest_dispatch_pause) {
      dispatching.back().end = std::max(dispatching.back().end, rank.end(event));
    } else {
      dispatching.push_back({rank.start(event), rank.end(event)});
    }
  }
  std::unordered_map<std::uint32_t, InnermostStretches> of_thread;
  std::unordered_map<std::uint32_t, std::vector<NestedRange>> ranges_of_thread;
  InnermostStretches of_all;
  for (const HostEvent& event : rank.recording().host_events) {
    const HostStretch stretch{{rank.start(event), rank.end(event)}, event.cause, event.name};
    if (!event.cause && names_a_range(event) && !marks_step(rank.recording(), event))
      ranges_of_thread[event.thread].push_back({stretch, event.name});
    if (!event.cause && !is_profiler(event)) continue;
    if (is_sampled(event)) {
      sampled.push_back(stretch);
      continue;
    }
    of_thread[event.thread].add(stretch);
    if (event.cause == HostCause::garbage_collection ||
        (is_profiler(event) && thread(event.thread) == nullptr))
      of_all.add(stretch);
  }
  for (auto& [index, stretches] : of_thread) threads[index].stretches = stretches.finish();
  for (auto& [index, ranges] : ranges_of_thread) {
    InnermostStretches innermost;
    for (const NestedRange& range : ranges) innermost.add({range, {}, range.name});
    nest(ranges);
    threads[index].innermost = innermost.finish();
    threads[index].ranges = std::move(ranges);
  }
  everywhere = of_all.finish();
}

const HostThread* HostEvidence::thread(std::uint32_t index) const {
  return value_at(threads, index);
}

LaunchCalls::LaunchCalls(const Recording& recording) : recording_(recording) {
  for (std::uint32_t index = 0; index < recording.host_events.size(); ++index) {
    const HostEvent& event = recording.host_events[index];
    if (is_call(event) && event.correlation != 0) calls_.emplace_back(event.correlation, index);
  }
  // Most tools number calls as they come.
  if (!std::ranges::is_sorted(calls_)) std::ranges::sort(calls_);
}

const HostEvent* LaunchCalls::of(const DeviceEvent& event) const {
  const auto found = std::ranges::lower_bound(calls_, std::pair(event.correlation, 0U));
  if (found == calls_.end() || found->first != event.correlation) return nullptr;
  return &recording_.host_events[found->second];
}

IdleDivision idle_division(const RankView& rank) {
  return [divider = std::make_shared<Divider>(rank)](
             const IdleGap& gap) -> const std::vector<IdlePiece>& { return divider->divide(gap); };
}
}  // namespace scaleworth::trace
