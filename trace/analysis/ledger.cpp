// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger.h"

#include "src/core/process.h"

#include <numeric>
#include <queue>
#include <set>

namespace scaleworth::trace {
namespace {

/// Of what communicates at the same time the first counts.
constexpr std::array communication_parts{
    Part::exposed_transfer, Part::exposed_undivided, Part::below_clock_error, Part::exposed_wait};

/// Something that runs until `until`.
struct Running {
  nanoseconds until{};
  nanoseconds end{};  // of the event: later than `until` while it waits
  std::uint32_t event = 0;
  Part part = Part::compute;           // alone it would count as this
  Part then = Part::exposed_transfer;  // after `until`, until `end`
  WorkClass work_class = WorkClass::unclassified;
  UnknownWork unknown = UnknownWork::none;
  std::optional<Place> waited_for{};  // absent: no known rank

  bool operator>(const Running& other) const { return until > other.until; }
};

/// What is active now, counted.
class ActiveSet {
 public:
  void add(const Running& one, int change) {
    total_ += change;
    active_[index_of(one.part)] += change;
    if (one.part == Part::compute) compute_[index_of(one.work_class)] += change;
    unknown_[index_of(one.unknown)] += change;
    if (one.part != Part::exposed_wait || !one.waited_for) return;
    if (change > 0) {
      charged_.emplace(one.event, *one.waited_for);
    } else {
      charged_.erase({one.event, *one.waited_for});
    }
  }

  bool empty() const { return total_ == 0; }

  /// Adds `length` of time in which this was active; returns to which part.
  Part count(StepLedger& ledger, nanoseconds length) const {
    const auto compute = compute_class();
    const auto part = std::ranges::find_if(communication_parts,
                                           [&](Part one) { return active_[index_of(one)] > 0; });
    const bool communicates = part != communication_parts.end();
    if (communicates) ledger.communication += length;
    if (active_[index_of(Part::exposed_copy)] > 0 && (compute || communicates))
      ledger.overlapped_copy += length;
    if (compute) {
      ledger.part(Part::compute) += length;
      ledger.compute_by_class[*compute] += length;
      if (communicates)
        (*part == Part::exposed_transfer ? ledger.overlapped_transfer
         : *part == Part::exposed_wait   ? ledger.overlapped_wait
                                         : ledger.overlapped_undivided) += length;
      return Part::compute;
    }
    const bool copies = active_[index_of(Part::exposed_copy)] > 0;
    const Part counted = communicates ? *part : copies ? Part::exposed_copy : Part::unattributed;
    ledger.part(counted) += length;
    if (counted == Part::unattributed) {
      const auto kind = std::ranges::find_if(
          unknown_.begin() + 1, unknown_.end(), [](std::int64_t count) { return count > 0; });
      ledger.unknown_work.at(kind - unknown_.begin()) += length;
    }
    if (counted == Part::exposed_wait) {
      // Of several waits that of the one which began first and is charged to a rank.
      (charged_.empty() ? ledger.uncharged_wait : ledger.waited_for[charged_.begin()->second]) +=
          length;
    }
    return counted;
  }

 private:
  /// The class of the kernels that are not communication; of several the first in the order of
  /// WorkClass, `unclassified` last. Absent: none runs.
  std::optional<std::size_t> compute_class() const {
    for (std::size_t index = 1; index < compute_.size(); ++index)
      if (compute_[index] > 0) return index;
    if (compute_[0] > 0) return 0;
    return std::nullopt;
  }

  std::int64_t total_ = 0;
  std::array<std::int64_t, part_count> active_{};
  std::array<std::int64_t, work_classes> compute_{};
  std::array<std::int64_t, unknown_works> unknown_{};
  std::set<std::pair<std::uint32_t, Place>> charged_;  // events are in order of their start
};

/// The ledgers of one rank's steps, filled in time order.
class StepLedgers {
 public:
  StepLedgers(const RankView& view,
              Place place,
              Rank rank,
              std::size_t ranks,
              const std::vector<StepSpan>& steps,
              std::optional<std::int32_t> drawn,
              HostTimes::value_type* host)
      : host_(host),
        all_are_excluded_(std::ranges::all_of(
            steps, [](const StepSpan& step) { return step.excluded.has_value(); })),
        idle_(idle_division(view)),
        drawn_(drawn),
        pixels_(std::clamp<std::int64_t>(
            16'000 / static_cast<std::int64_t>(std::max<std::size_t>(ranks, 1)), 250, 1500)) {
    // Pieces of a drawn timeline, presumed: 16,000 of all ranks keep a page small; a row of 250
    // still shows steps, beyond 1,500 a screen shows no more.
    for (const StepSpan& step : steps) {
      StepLedger ledger;
      ledger.step = step.number;
      ledger.place = place;
      ledger.rank = rank;
      ledger.start = step.start;
      ledger.end = std::max(step.start, step.end);
      ledger.excluded = step.excluded;
      ledgers_.push_back(std::move(ledger));
    }
  }

  void busy(TimeInterval time, const ActiveSet& active) {
    spread(time,
           [&](StepLedger& ledger, nanoseconds length) { return active.count(ledger, length); });
  }

  void idle(const IdleGap& gap) {
    if (!within_a_step(gap)) return;
    for (const IdlePiece& piece : idle_(gap))
      spread(piece, [&](StepLedger& ledger, nanoseconds length) {
        ledger.part(piece.part) += length;
        if (piece.part == Part::host_late) {
          ledger.host_late_by_cause[index_of(piece.cause)] += length;
          if (host_ != nullptr && (all_are_excluded_ || !ledger.excluded))
            (*host_)[{piece.cause, piece.name}] += length;
        }
        if (piece.unknown != UnknownWork::none)
          ledger.unknown_work[index_of(piece.unknown)] += length;
        return piece.part;
      });
  }

  std::vector<StepLedger> finish() {
    for (StepLedger& ledger : ledgers_) {
      if (ledger.step == drawn_) merge_short(ledger);
      check_sums(ledger);
    }
    return std::move(ledgers_);
  }

 private:
  bool within_a_step(const IdleGap& gap) const {
    std::size_t index = next_;
    while (index < ledgers_.size() && ledgers_[index].end <= gap.start) ++index;
    return index < ledgers_.size() && ledgers_[index].start < gap.end;
  }

  /// Of the step that is drawn: shorter than a pixel of its picture is merged with what follows.
  void draw(StepLedger& ledger, Part part, nanoseconds length) {
    const nanoseconds pixel = (ledger.end - ledger.start) / pixels_;
    if (length >= pixel) merge_short(ledger);
    short_[index_of(part)] += length;
    if (std::accumulate(short_.begin(), short_.end(), nanoseconds{}) >= pixel) merge_short(ledger);
  }

  /// As the part that has most of it.
  void merge_short(StepLedger& ledger) {
    const auto most = std::ranges::max_element(short_);
    if (*most == nanoseconds::zero()) return;
    const Part part = static_cast<Part>(most - short_.begin());
    std::vector<StepPiece>& pieces = ledger.pieces;
    if (pieces.empty() || pieces.back().part != part) pieces.push_back({part, {}});
    pieces.back().length += std::accumulate(short_.begin(), short_.end(), nanoseconds{});
    short_ = {};
  }

  /// Calls `count`, which returns the part, with each step's share of `time`.
  template <class Count>
  void spread(TimeInterval time, Count count) {
    while (next_ < ledgers_.size() && ledgers_[next_].end <= time.start) ++next_;
    for (std::size_t index = next_; index < ledgers_.size() && ledgers_[index].start < time.end;
         ++index) {
      StepLedger& ledger = ledgers_[index];
      const nanoseconds start = std::max(ledger.start, time.start);
      const nanoseconds end = std::min(ledger.end, time.end);
      if (start >= end) continue;
      const Part part = count(ledger, end - start);
      if (ledger.step == drawn_) draw(ledger, part, end - start);
    }
  }

  HostTimes::value_type* host_;  // may be null
  bool all_are_excluded_;
  IdleDivision idle_;
  std::vector<StepLedger> ledgers_;
  std::size_t next_ = 0;  // no earlier step reaches what comes
  std::optional<std::int32_t> drawn_;
  std::int64_t pixels_;                          // fewer where more ranks share the picture
  std::array<nanoseconds, part_count> short_{};  // by Part: follows the last piece
};

/// What begins when: events in their order, and those with a split when the rank arrived at them,
/// which may be before they were recorded.
class Beginnings {
 public:
  Beginnings(const RankView& rank, const std::vector<CommunicationSplit>& splits)
      : rank_(rank), has_split_(rank.recording().device_events.size()) {
    for (const CommunicationSplit& split : splits) {
      splits_.push_back(&split);
      has_split_.at(split.event) = true;
    }
    std::ranges::sort(splits_, {}, [](const auto* a) { return std::pair(a->start, a->event); });
  }

  struct Beginning {
    nanoseconds start{};
    std::uint32_t event = 0;
    const CommunicationSplit* split = nullptr;
  };

  /// In the order of their starts; absent at the end.
  std::optional<Beginning> next() {
    const auto& events = rank_.recording().device_events;
    while (event_ < events.size() && has_split_[event_]) ++event_;
    std::optional<Beginning> next;
    if (event_ < events.size()) next = Beginning{rank_.start(events[event_]), event_, nullptr};
    if (next_split_ < splits_.size() && (!next || splits_[next_split_]->start <= next->start)) {
      const CommunicationSplit* split = splits_[next_split_++];
      return Beginning{split->start, split->event, split};
    }
    if (next) ++event_;
    return next;
  }

 private:
  const RankView& rank_;
  std::vector<bool> has_split_;                    // by event
  std::vector<const CommunicationSplit*> splits_;  // by start
  std::size_t next_split_ = 0;
  std::uint32_t event_ = 0;
};

/// One pass in time order over everything that a rank's devices do: at each instant, what is active
/// on any of its streams. O(n log c) for n events of which at most c run at once, memory O(c) and a
/// few words for each split. Events must be in the order of sort_events. `splits` are those of this
/// rank: communication lasts from the start to the end that its split gives, because a rank may
/// arrive before the recorder of a framework sees the operation begin. A communication event
/// without a split is all transfer.
class Sweep {
 public:
  /// `ledgers` get everything, in time order and without holes.
  Sweep(const RankView& rank, const std::vector<CommunicationSplit>& splits, StepLedgers& ledgers)
      : rank_(rank), beginnings_(rank, splits), ledgers_(ledgers) {}

  /// From the start of `window` or the first event, whichever is earlier, to the end of `window` or
  /// the last event.
  void run(TimeInterval window) {
    auto next = beginnings_.next();
    now_ = next ? std::min(window.start, next->start) : window.start;
    for (std::uint32_t count = 0; next; next = beginnings_.next(), ++count) {
      if (count % interrupt_every == 0) check_interrupt();
      finish_until(next->start);
      const DeviceEvent& event = rank_.recording().device_events[next->event];
      advance(next->start, next->event, last_of_stream_.exchange(event, next->event));
      begin(*next, event);
    }
    while (!running_.empty()) finish_until(running_.top().until);
    advance(window.end);
  }

 private:
  void finish_until(nanoseconds time) {
    while (!running_.empty() && running_.top().until <= time) {
      Running one = running_.top();
      running_.pop();
      advance(one.until);
      active_.add(one, -1);
      last_ = one.event;
      if (one.until < one.end) {
        one.part = one.then;
        one.until = one.end;
        active_.add(one, 1);
        running_.push(one);
      }
    }
  }

  /// `next` begins then, after `predecessor` on its stream.
  void advance(nanoseconds time,
               std::uint32_t next = no_index,
               std::uint32_t predecessor = no_index) {
    if (time <= now_) return;
    if (active_.empty()) {
      ledgers_.idle({{now_, time}, next, last_, predecessor});
    } else {
      ledgers_.busy({now_, time}, active_);
    }
    now_ = time;
  }

  void begin(const Beginnings::Beginning& beginning, const DeviceEvent& event) {
    const CommunicationSplit* split = beginning.split;
    const nanoseconds end = split == nullptr ? rank_.end(event) : split->end;
    if (end <= now_) return;
    Running one{.until = end,
                .end = end,
                .event = beginning.event,
                .work_class = event.work_class,
                .unknown = event.unknown};
    if (event.unknown != UnknownWork::none) one.part = Part::unattributed;
    if (event.work_class == WorkClass::copy) one.part = Part::exposed_copy;
    if (split != nullptr && !split->known) one.then = Part::exposed_undivided;
    if (is_communication(event)) one.part = one.then;
    if (split != nullptr && split->split > now_) {
      one.part = split->below_error ? Part::below_clock_error : Part::exposed_wait;
      one.until = std::min(split->split, end);
      one.waited_for = split->waited_for;
    }
    active_.add(one, 1);
    running_.push(one);
  }

  const RankView& rank_;
  Beginnings beginnings_;
  StepLedgers& ledgers_;
  nanoseconds now_{};
  ActiveSet active_;
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  LastOfStream last_of_stream_;
  std::uint32_t last_ = no_index;
};

/// Whether the event counts as the part, alone.
bool may_count_as(Part part, const DeviceEvent& event) {
  if (is_communication(event))
    return std::ranges::find(communication_parts, part) != communication_parts.end();
  if (event.work_class == WorkClass::copy) return part == Part::exposed_copy;
  return part == (event.unknown == UnknownWork::none ? Part::compute : Part::unattributed);
}

/// Names each piece of the ledger after the event that takes most of it, and for whom that waits.
void name_pieces(StepLedger& ledger,
                 const RankView& rank,
                 const std::vector<CommunicationSplit>& splits) {
  std::vector<nanoseconds> ends;
  nanoseconds end = ledger.start;
  for (const StepPiece& piece : ledger.pieces) ends.push_back(end += piece.length);
  std::vector<nanoseconds> most(ends.size());
  const auto name = [&](const DeviceEvent& event, TimeInterval time, std::optional<Place> partner) {
    auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends, time.start) - ends.begin());
    for (; i < ends.size() && ends[i] - ledger.pieces[i].length < time.end; ++i) {
      StepPiece& piece = ledger.pieces[i];
      const nanoseconds shared =
          std::min(ends[i], time.end) - std::max(ends[i] - piece.length, time.start);
      if (shared <= most[i] || !may_count_as(piece.part, event)) continue;
      most[i] = shared;
      piece.name = rank.recording().names.at(event.name);
      piece.partner = piece.part == Part::exposed_wait ? partner : std::nullopt;
    }
  };
  const auto& events = rank.recording().device_events;
  for (const DeviceEvent& event : events)
    if (!is_communication(event)) name(event, {rank.start(event), rank.end(event)}, {});
  for (const CommunicationSplit& split : splits)
    name(events[split.event], {split.start, split.end}, split.waited_for);
}
}  // namespace

std::vector<IntervalSet> compute_intervals(const Job& job, const ClockMap& clocks) {
  std::vector<IntervalSet> by_rank(job.recordings.size());
  for_each_index(by_rank.size(), [&](std::size_t index) {
    const RankView rank(job.recordings[index], clocks, index);
    std::vector<TimeInterval> ranges;
    for (const DeviceEvent& event : rank.recording().device_events)
      if (is_compute(event)) ranges.push_back({rank.start(event), rank.end(event)});
    by_rank[index] = IntervalSet(std::move(ranges));
  });
  return by_rank;
}

std::vector<StepLedger> build_job_ledger(const Job& job,
                                         const StepPlan& steps,
                                         const Waits& waits,
                                         const ClockMap& clocks,
                                         HostTimes* host) {
  const std::size_t ranks = std::min(job.recordings.size(), steps.by_rank.size());
  const RankNumbers numbers(job);
  std::vector<std::vector<StepLedger>> by_rank(ranks);
  if (host != nullptr) host->resize(ranks);
  for_each_index(ranks, [&](std::size_t rank) {
    const std::vector<StepSpan>& spans = steps.by_rank[rank];
    if (spans.empty()) return;
    const RankView view(job.recordings[rank], clocks, rank);
    const Place place = place_at(rank);
    StepLedgers ledgers(view,
                        place,
                        numbers.at(place),
                        job.recordings.size(),
                        spans,
                        steps.drawn,
                        host == nullptr ? nullptr : &host->at(rank));
    static const std::vector<CommunicationSplit> none;
    const auto& splits = rank < waits.by_rank.size() ? waits.by_rank[rank] : none;
    Sweep(view, splits, ledgers).run({spans.front().start, spans.back().end});
    by_rank[rank] = ledgers.finish();
    for (StepLedger& ledger : by_rank[rank])
      if (!ledger.pieces.empty()) name_pieces(ledger, view, splits);
  });
  std::vector<StepLedger> ledger;
  for (auto& of_rank : by_rank)
    std::move(of_rank.begin(), of_rank.end(), std::back_inserter(ledger));
  std::ranges::stable_sort(
      ledger, {}, [](const StepLedger& a) { return std::pair(a.step, a.place); });
  return ledger;
}
}  // namespace scaleworth::trace
