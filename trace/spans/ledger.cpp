// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/ledger.h"

#include "trace/spans/arrivals.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using std::chrono::nanoseconds;

class LedgerBuilder {
 public:
  explicit LedgerBuilder(const Timeline& timeline)
      : timeline_(timeline), arrivals_(collect_arrivals(timeline)) {}

  Ledger build() {
    const SegmentedTimeline segmented = segment(timeline_);
    if (timeline_.progress_inside_calls_only) stalls_.emplace(timeline_, segmented);
    ledger_.ranks = timeline_.ranks;
    ledger_.losses = segmented.losses;
    ledger_.duplicate_posts = arrivals_.duplicate_posts;
    for (const StepSegments& step : segmented.steps) add_step(step);
    return std::move(ledger_);
  }

 private:
  void add_step(const StepSegments& step) {
    LedgerEntry entry;
    entry.step = step.step;
    entry.rank = step.rank;
    entry.step_time = step.end - step.start;
    entry.waited_for.resize(static_cast<std::size_t>(timeline_.ranks));
    nanoseconds covered = step.start;
    for (const Segment& segment : step.segments) {
      entry.unattributed += segment.start - covered;
      add_segment(entry, segment);
      covered = segment.end;
    }
    entry.unattributed += step.end - covered;
    check(entry);
    ledger_.entries.push_back(std::move(entry));
  }

  void add_segment(LedgerEntry& entry, const Segment& segment) {
    const nanoseconds time = segment.end - segment.start;
    switch (timeline_.spans[segment.span].activity) {
      case Activity::compute:
        entry.compute += time;
        return;
      case Activity::optimizer:
        entry.optimizer += time;
        return;
      case Activity::host:
        entry.host += time;
        return;
      case Activity::post:
      case Activity::progress:
        entry.progress += time;
        return;
      case Activity::collective_wait:
        add_wait(entry, segment);
        return;
      case Activity::step:
        break;
    }
    entry.unattributed += time;
  }

  void add_wait(LedgerEntry& entry, const Segment& segment) {
    const Span& span = timeline_.spans[segment.span];
    const auto found = arrivals_.collectives.find({span.step, span.sequence});
    if (found == arrivals_.collectives.end() || !found->second.complete) {
      ++ledger_.unsplit_waits;
      entry.unattributed += segment.end - segment.start;
      return;
    }
    const Arrivals& arrivals = found->second;
    const nanoseconds arrived = std::clamp(arrivals.last, segment.start, segment.end);
    WaitSplit wait{segment.span, {}, std::nullopt};
    add_arrival(entry, wait, arrivals, {segment.start, arrived});
    add_rest(entry, wait, arrivals, {arrived, segment.end});
    ledger_.waits.push_back(std::move(wait));
  }

  void add_arrival(LedgerEntry& entry,
                   WaitSplit& wait,
                   const Arrivals& arrivals,
                   const TimeRange& time) {
    const auto charged = charge(entry, wait, {time, WaitCause::arrival, arrivals.last_rank});
    if (charged) wait.post = arrivals.posts[static_cast<std::size_t>(charged->index)];
  }

  void add_rest(LedgerEntry& entry,
                WaitSplit& wait,
                const Arrivals& arrivals,
                const TimeRange& time) {
    nanoseconds covered = time.start;
    if (stalls_) {
      const Span& span = timeline_.spans[wait.span];
      for (const Stall& stall :
           stalls_->stalls({span.step, span.sequence}, arrivals.last, entry.rank, time)) {
        add_transfer(entry, wait, {covered, stall.time.start});
        charge(entry, wait, {stall.time, WaitCause::stall, stall.rank});
        covered = stall.time.end;
      }
    }
    add_transfer(entry, wait, {covered, time.end});
  }

  static void add_transfer(LedgerEntry& entry, WaitSplit& wait, const TimeRange& time) {
    if (time.start == time.end) return;
    entry.exposed_transfer += time.end - time.start;
    wait.parts.push_back({time, WaitCause::transfer, std::nullopt});
  }

  // Returns who is charged in the end.
  std::optional<Rank> charge(LedgerEntry& entry, WaitSplit& wait, WaitPart part) {
    const nanoseconds time = part.time.end - part.time.start;
    if (time == nanoseconds::zero()) return std::nullopt;
    entry.exposed_wait += time;
    // A rank that blocks before its own arrival is a malformed recording: it waits for nobody.
    if (time < timeline_.clock_error || part.waited_for == entry.rank) part.waited_for.reset();
    if (part.waited_for) {
      entry.waited_for[static_cast<std::size_t>(part.waited_for->index)] += time;
    } else {
      ++ledger_.uncharged_waits;
      entry.uncharged_wait += time;
    }
    wait.parts.push_back(part);
    return part.waited_for;
  }

  static void check(const LedgerEntry& entry) {
    const nanoseconds parts = entry.compute + entry.optimizer + entry.host + entry.progress +
                              entry.exposed_wait + entry.exposed_transfer + entry.unattributed;
    const nanoseconds waits =
        std::accumulate(entry.waited_for.begin(), entry.waited_for.end(), entry.uncharged_wait);
    if (parts != entry.step_time || waits != entry.exposed_wait) {
      throw std::logic_error(
          fmt::format("ledger of step {} rank {}: parts {} ns, step {} ns; charged {} ns of {} ns",
                      entry.step,
                      entry.rank.index,
                      parts.count(),
                      entry.step_time.count(),
                      waits.count(),
                      entry.exposed_wait.count()));
    }
  }

  const Timeline& timeline_;
  ArrivalTable arrivals_;
  std::optional<StallTable> stalls_;  // where ranks that compute hold up collectives
  Ledger ledger_;
};

}  // namespace

Ledger build_ledger(const Timeline& timeline) {
  return LedgerBuilder(timeline).build();
}

std::map<std::string, double> loss_counters(const Ledger& ledger) {
  std::map<std::string, double> counters = loss_counters(ledger.losses);
  const auto count = [&](const char* name, std::int64_t value) {
    if (value != 0) counters[name] = static_cast<double>(value);
  };
  count("uncharged_waits", ledger.uncharged_waits);
  count("unsplit_waits", ledger.unsplit_waits);
  count("duplicate_posts", ledger.duplicate_posts);
  return counters;
}

}  // namespace scaleworth::trace
