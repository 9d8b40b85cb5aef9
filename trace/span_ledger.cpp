// SPDX-License-Identifier: Apache-2.0
#include "trace/span_ledger.h"

#include "src/core/run.h"
#include "trace/recording.h"

#include <array>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

/// A span of one of `ranks` ranks that does not end before it starts; times so that no difference
/// overflows.
bool is_valid(const Span& span, int ranks) {
  return span.rank.index >= 0 && span.rank.index < ranks && span.start >= -farthest_time &&
         span.end <= farthest_time && span.start <= span.end;
}

/// Of a timeline, in which all ranks are.
Place place_of(Rank rank) {
  return place_at(static_cast<std::size_t>(rank.index));
}

void lose(Ledger& ledger, const char* what, std::int64_t amount) {
  if (amount != 0) ledger.losses[what] += amount;
}

/// Appends what of `span` lies within [free, step.end).
void append_cut(Span span, const Span& step, nanoseconds free, Ledger& ledger) {
  const bool apart = span.end < step.start || span.start > step.end;
  const nanoseconds whole = span.end - span.start;
  span.start = std::clamp(span.start, step.start, step.end);
  span.end = std::clamp(span.end, step.start, step.end);
  const nanoseconds outside = whole - (span.end - span.start);
  if (apart || outside > nanoseconds::zero()) {
    lose(ledger, "outside_spans", 1);
    lose(ledger, "outside_time_ns", outside.count());
  }
  if (apart) return;
  if (span.start < free) {
    lose(ledger, "overlapping_spans", 1);
    lose(ledger, "overlapping_time_ns", (std::min(free, span.end) - span.start).count());
    if (span.end <= free) return;
    span.start = free;
  }
  ledger.spans.push_back(std::move(span));
}

/// Appends one step of one rank, of which `spans` are all, by their start.
void append_step(std::span<const Span> spans, Ledger& ledger) {
  const auto step = std::ranges::find(spans, Activity::step, &Span::activity);
  if (step == spans.end())
    return lose(ledger, "orphan_spans", static_cast<std::int64_t>(spans.size()));
  lose(ledger, "duplicate_steps", std::ranges::count(spans, Activity::step, &Span::activity) - 1);
  ledger.spans.push_back(*step);
  const std::size_t first = ledger.spans.size();
  for (const Span& span : spans) {
    if (span.activity == Activity::step) continue;
    const bool none = ledger.spans.size() == first;
    append_cut(span, *step, none ? step->start : ledger.spans.back().end, ledger);
  }
}

/// Fills the disjoint spans and what was lost on the way.
void append_spans(const Timeline& timeline, Ledger& ledger) {
  std::vector<Span> spans = timeline.spans;
  lose(ledger, "invalid_spans", static_cast<std::int64_t>(std::erase_if(spans, [&](const Span& s) {
         return !is_valid(s, timeline.ranks);
       })));
  std::ranges::sort(spans, {}, [](const Span& s) {
    return std::tie(s.step, s.rank, s.start, s.end, s.activity, s.sequence, s.name);
  });
  for (auto begin = spans.begin(); begin != spans.end();) {
    const auto end = std::find_if(begin, spans.end(), [&](const Span& span) {
      return span.step != begin->step || span.rank != begin->rank;
    });
    append_step({begin, end}, ledger);
    begin = end;
  }
}

using CollectiveKey = std::pair<std::int32_t, std::int32_t>;  // step, sequence
using RankTimes = std::set<std::pair<nanoseconds, int>>;

/// Absent when the two last of `times`, not empty, lie within the clock error of each other.
std::optional<Rank> last_rank(const RankTimes& times, nanoseconds clock_error) {
  const auto last = std::prev(times.end());
  if (times.size() > 1 && last->first - std::prev(last)->first <= clock_error) return std::nullopt;
  return Rank{last->second};
}

struct LastArrival {
  nanoseconds time{};  // L_q
  std::optional<Rank> rank;
};

/// Of the collectives at which every rank arrived. A rank has arrived when its post span ends; of
/// several posts of a rank at one collective the earliest counts. With a single rank there is no
/// rank to wait for and `rank` is that rank.
std::map<CollectiveKey, LastArrival> last_arrivals(const Timeline& timeline, Ledger& ledger) {
  std::map<CollectiveKey, std::map<int, nanoseconds>> arrivals;
  for (const Span& span : timeline.spans) {
    if (span.activity != Activity::post || span.sequence < 0) continue;
    if (!is_valid(span, timeline.ranks)) continue;
    const auto [arrival, first] =
        arrivals[{span.step, span.sequence}].emplace(span.rank.index, span.end);
    if (first) continue;
    lose(ledger, "duplicate_posts", 1);
    arrival->second = std::min(arrival->second, span.end);
  }
  std::map<CollectiveKey, LastArrival> last;
  for (const auto& [collective, by_rank] : arrivals) {
    if (by_rank.size() < static_cast<std::size_t>(timeline.ranks)) continue;
    RankTimes times;
    for (const auto& [rank, time] : by_rank) times.emplace(time, rank);
    last[collective] = {times.rbegin()->first, last_rank(times, timeline.clock_error)};
  }
  return last;
}

/// Each step of each rank: its own span, then its others in time order.
std::vector<std::span<const Span>> steps_of(const std::vector<Span>& disjoint) {
  std::vector<std::span<const Span>> steps;
  for (auto step = disjoint.begin(); step != disjoint.end();) {
    const auto end =
        std::ranges::find(std::next(step), disjoint.end(), Activity::step, &Span::activity);
    steps.emplace_back(step, end);
    step = end;
  }
  return steps;
}

bool is_call(const Span& span) {
  return span.activity == Activity::post || span.activity == Activity::progress ||
         span.activity == Activity::collective_wait;
}

/// How long each rank of a timeline worked since its last step's communication ended: whatever it
/// did outside of calls. That of a step without one before it counts from the step's start.
class OwnWork {
 public:
  /// What `disjoint` refers to must outlive this.
  explicit OwnWork(const std::vector<std::span<const Span>>& disjoint) {
    std::map<std::pair<std::int32_t, Rank>, nanoseconds> last_call;
    for (const auto& step : disjoint) {
      const Span& whole = step.front();
      for (const Span& span : step.subspan(1))
        if (is_call(span)) last_call[{whole.step, whole.rank}] = span.end;
      const auto before = last_call.find({whole.step - 1, whole.rank});
      const nanoseconds since =
          before == last_call.end() ? whole.start : std::min(before->second, whole.start);
      steps_[whole.step][whole.rank] = {since, step.subspan(1)};
    }
  }

  /// By `time` within `step` of `rank`, by its own clock but for the end.
  nanoseconds until(std::int32_t step, Rank rank, nanoseconds time) const {
    const auto found = steps_.at(step).find(rank);
    return found == steps_.at(step).end() ? nanoseconds::zero() : until(found->second, time);
  }

  /// The same of a rank that arrives at `time`: a wait that lasts beyond it, as for a kernel that
  /// the host launched late, was none before.
  nanoseconds until_arrival(std::int32_t step, Rank rank, nanoseconds time) const {
    const auto found = steps_.at(step).find(rank);
    if (found == steps_.at(step).end()) return nanoseconds::zero();
    nanoseconds worked = until(found->second, time);
    for (const Span& span : found->second.spans) {
      if (span.start >= time) break;
      if (is_call(span) && span.end > time) worked += time - span.start;
    }
    return worked;
  }

  /// How much more than `rank`, of the rank that worked most; 0 for none.
  nanoseconds most_beyond(std::int32_t step, Rank rank, nanoseconds time) const {
    nanoseconds most{};
    for (const auto& entry : steps_.at(step)) most = std::max(most, until(entry.second, time));
    return most - until(step, rank, time);
  }

 private:
  struct RankStep {
    nanoseconds since{};
    std::span<const Span> spans;
  };

  static nanoseconds until(const RankStep& step, nanoseconds time) {
    nanoseconds worked = std::max(time, step.since) - step.since;
    for (const Span& span : step.spans) {
      if (span.start >= time) break;
      if (is_call(span)) worked -= std::min(span.end, time) - span.start;
    }
    return worked;
  }

  std::map<std::int32_t, std::map<Rank, RankStep>> steps_;
};

/// When each rank of a timeline was away from the library, and when it had completed what.
///   away: in a compute, optimizer or host span of the collective's step; time that no span covers
///     is not known to be away.
///   completion of a collective on a rank: the earliest end of its collective_wait spans of it. A
///     rank without one completed it in some call that ended after the last arrival: it counts as
///     not complete until the first such call begins, and is never blamed from there on.
class StallTable {
 public:
  /// What `disjoint` refers to must outlive this.
  StallTable(const Timeline& timeline, const std::vector<std::span<const Span>>& disjoint)
      : clock_error_(timeline.clock_error) {
    for (const auto& step : disjoint) steps_[step.front().step].push_back(step);
    for (const Span& span : timeline.spans) {
      if (span.activity != Activity::collective_wait || !is_valid(span, timeline.ranks)) continue;
      const auto completion =
          completions_.emplace(std::tuple(span.step, span.sequence, span.rank), span.end).first;
      completion->second = std::min(completion->second, span.end);
    }
  }

  /// The parts of `time`, within the wait `waiter`, in which another rank was away that had not
  /// completed the collective; in order, disjoint, neighbours of the same rank joined. Of several
  /// the one that comes back last (whose next call begins last) is named: until then nothing moves,
  /// whatever the others do. None is named when the two last come back within the clock error of
  /// each other. `arrived` is when the last rank arrived at the collective.
  std::vector<WaitPart> stalls(const Span& waiter, nanoseconds arrived, TimeInterval time) const {
    std::vector<Edge> edges;
    for (const auto& step : steps_.at(waiter.step)) {
      const Rank rank = step.front().rank;
      if (rank == waiter.rank) continue;
      const auto spans = step.subspan(1);
      const auto completion = completions_.find({waiter.step, waiter.sequence, rank});
      const nanoseconds complete =
          completion != completions_.end()
              ? completion->second
              : next_call(spans, std::ranges::upper_bound(spans, arrived, {}, &Span::end), arrived);
      const nanoseconds end = std::min(time.end, complete);
      if (end <= time.start) continue;
      auto away = std::ranges::upper_bound(spans, time.start, {}, &Span::end);
      for (; away != spans.end() && away->start < end; ++away) {
        if (is_call(*away) || away->start == away->end) continue;
        const std::pair back(next_call(spans, away, step.front().end), rank.index);
        edges.push_back({std::max(away->start, time.start), true, back});
        edges.push_back({std::min(away->end, end), false, back});
      }
    }
    return sweep(std::move(edges));
  }

 private:
  struct Edge {
    nanoseconds time{};
    bool leaves = false;
    RankTimes::value_type back;  // the next call begins; the step ends where there is none
  };

  /// When the first call from `from` on begins; `otherwise` where there is none.
  static nanoseconds next_call(std::span<const Span> spans,
                               std::span<const Span>::iterator from,
                               nanoseconds otherwise) {
    const auto call = std::find_if(from, spans.end(), &is_call);
    return call == spans.end() ? otherwise : call->start;
  }

  std::vector<WaitPart> sweep(std::vector<Edge> edges) const {
    std::ranges::sort(edges, {}, [](const Edge& a) { return std::tie(a.time, a.leaves, a.back); });
    std::vector<WaitPart> stalls;
    RankTimes away;
    nanoseconds since{};
    for (const Edge& edge : edges) {
      if (!away.empty() && since < edge.time) {
        const auto rank = last_rank(away, clock_error_);
        if (!stalls.empty() && stalls.back().time.end == since && stalls.back().waited_for == rank)
          stalls.back().time.end = edge.time;
        else
          stalls.push_back({{since, edge.time}, WaitCause::stall, rank});
      }
      if (edge.leaves)
        away.insert(edge.back);
      else
        away.erase(edge.back);
      since = edge.time;
    }
    return stalls;
  }

  nanoseconds clock_error_;
  std::map<std::int32_t, std::vector<std::span<const Span>>> steps_;  // by step number
  std::map<std::tuple<std::int32_t, std::int32_t, Rank>, nanoseconds> completions_;
};

/// The part that a span's time is, by Activity; of waits for a collective, of one without arrivals.
constexpr std::array part_of{Part::unattributed,  // step
                             Part::compute,
                             Part::optimizer,
                             Part::host,
                             Part::progress,  // post
                             Part::progress,
                             Part::unattributed};

class LedgerBuilder {
 public:
  explicit LedgerBuilder(const Timeline& timeline) : timeline_(timeline) {}

  Ledger build() {
    ledger_.ranks = timeline_.ranks;
    append_spans(timeline_, ledger_);
    arrivals_ = last_arrivals(timeline_, ledger_);
    const auto steps = steps_of(ledger_.spans);
    work_.emplace(steps);
    if (timeline_.progress_inside_calls_only) stalls_.emplace(timeline_, steps);
    std::set<std::int32_t> numbers;
    for (const auto& step : steps) {
      numbers.insert(step.front().step);
      add_step(step);
    }
    lose(ledger_,
         "missing_steps",
         static_cast<std::int64_t>(numbers.size()) * timeline_.ranks -
             static_cast<std::int64_t>(steps.size()));
    return std::move(ledger_);
  }

 private:
  void add_step(std::span<const Span> spans) {
    const Span& step = spans.front();
    StepLedger entry;
    entry.step = step.step;
    entry.place = place_of(step.rank);
    entry.rank = step.rank;
    entry.start = step.start;
    entry.end = step.end;
    nanoseconds covered = step.start;
    for (const Span& span : spans.subspan(1)) {
      entry.part(Part::unattributed) += span.start - covered;
      add_span(entry, span);
      covered = span.end;
    }
    entry.part(Part::unattributed) += step.end - covered;
    entry.compute_by_class[index_of(WorkClass::unclassified)] = entry.part(Part::compute);
    check_sums(entry);
    ledger_.entries.push_back(std::move(entry));
  }

  void add_span(StepLedger& entry, const Span& span) {
    if (span.activity == Activity::collective_wait) {
      if (const auto* found = value_at(arrivals_, {span.step, span.sequence}))
        return add_wait(entry, span, *found);
      lose(ledger_, "unsplit_waits", 1);
    }
    entry.part(part_of.at(index_of(span.activity))) += span.end - span.start;
  }

  void add_wait(StepLedger& entry, const Span& span, const LastArrival& last) {
    const nanoseconds arrived = std::clamp(last.time, span.start, span.end);
    WaitSplit wait{static_cast<std::size_t>(&span - ledger_.spans.data()), {}};
    add_part(entry, wait, {{span.start, arrived}, WaitCause::arrival, last.rank});
    nanoseconds covered = arrived;
    if (stalls_) {
      for (const WaitPart& stall : stalls_->stalls(span, last.time, {arrived, span.end})) {
        add_part(entry, wait, {{covered, stall.time.start}, WaitCause::transfer, std::nullopt});
        add_part(entry, wait, stall);
        covered = stall.time.end;
      }
    }
    add_part(entry, wait, {{covered, span.end}, WaitCause::transfer, std::nullopt});
    ledger_.waits.push_back(std::move(wait));
  }

  /// What of a wait the late rank's own work explains: how much longer than the waiting rank it
  /// worked, less what was charged to it in this step already. It cannot help the rest: it came
  /// late from the communication before.
  nanoseconds explained(const StepLedger& entry, const WaitPart& part) const {
    const nanoseconds end = part.time.end;
    if (part.waited_for == entry.rank) return end - part.time.start;
    if (!part.waited_for)
      return work_->most_beyond(entry.step, entry.rank, end) - entry.uncharged_wait;
    return work_->until_arrival(entry.step, *part.waited_for, end) -
           work_->until(entry.step, entry.rank, end) -
           entry.waited_for.at(place_of(*part.waited_for));
  }

  void add_part(StepLedger& entry, WaitSplit& wait, WaitPart part) {
    if (part.cause != WaitCause::transfer) {
      const nanoseconds end = part.time.end;
      part.time.end = std::clamp(part.time.start + explained(entry, part), part.time.start, end);
      add_piece(entry, wait, part);
      part = {{part.time.end, end}, WaitCause::transfer, std::nullopt};
    }
    add_piece(entry, wait, part);
  }

  void add_piece(StepLedger& entry, WaitSplit& wait, WaitPart part) {
    const nanoseconds time = part.time.end - part.time.start;
    if (time == nanoseconds::zero()) return;
    if (part.cause == WaitCause::transfer) {
      entry.part(Part::exposed_transfer) += time;
    } else {
      entry.part(Part::exposed_wait) += time;
      // A rank that blocks before its own arrival is a malformed recording: it waits for no rank.
      if (time < timeline_.clock_error || part.waited_for == entry.rank) part.waited_for.reset();
      if (part.waited_for) {
        entry.waited_for[place_of(*part.waited_for)] += time;
      } else {
        lose(ledger_, "uncharged_waits", 1);
        entry.uncharged_wait += time;
      }
    }
    if (part.cause == WaitCause::transfer && !wait.parts.empty() &&
        wait.parts.back().cause == WaitCause::transfer) {
      wait.parts.back().time.end = part.time.end;
    } else {
      wait.parts.push_back(part);
    }
  }

  const Timeline& timeline_;
  std::map<CollectiveKey, LastArrival> arrivals_;
  std::optional<OwnWork> work_;
  std::optional<StallTable> stalls_;  // where ranks that compute hold up collectives
  Ledger ledger_;
};
}  // namespace

Ledger build_ledger(const Timeline& timeline) {
  return LedgerBuilder(timeline).build();
}

std::vector<Point> ledger_points(const Point& setting, const Ledger& ledger) {
  std::vector<Point> points(std::max(0, ledger.ranks));
  // By the rank that waited and the rank that was waited for, one value per step.
  std::map<std::pair<std::size_t, std::size_t>, Series> waits;
  for (std::size_t rank = 0; rank < points.size(); ++rank) {
    Point& point = points[rank];
    point.setting = setting.setting;
    point.setting.set(Parameter::rank, static_cast<std::int64_t>(rank));
    point.stop_reason = setting.stop_reason;
    for (const auto& [name, amount] : ledger.losses)
      point.warnings.emplace_back(FindingId::ledger_lost, name, amount);
  }
  for (const StepLedger& entry : ledger.entries) {
    const std::size_t own = entry.place.index;
    auto& samples = points[own].samples;
    const std::size_t step = samples[Metric::step_ns].size();
    const auto add = [&](Metric metric, nanoseconds time) {
      samples[metric].push_back(static_cast<double>(time.count()));
    };
    add(Metric::step_ns, entry.end - entry.start);
    for (const Part part : probe_parts) add(metric_of(part), entry.part(part));
    for (const auto& [late, time] : entry.waited_for) {
      Series& series = waits[{own, late.index}];
      series.resize(step);
      series.push_back(static_cast<double>(time.count()));
    }
  }
  for (auto& [ranks, series] : waits) {
    Point& point = points.emplace_back();
    point.setting = points[ranks.first].setting;
    point.setting.set(Parameter::waited_for, static_cast<std::int64_t>(ranks.second));
    series.resize(points[ranks.first].samples[Metric::step_ns].size());
    point.samples[Metric::wait_ns] = std::move(series);
  }
  return points;
}
}  // namespace scaleworth::trace
