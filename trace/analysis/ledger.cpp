// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/ledger.h"

#include "trace/analysis/arrivals.h"

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
    SegmentedTimeline segmented = segment(timeline_);
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
    const nanoseconds split = std::clamp(arrivals.last, segment.start, segment.end);
    WaitSplit wait{segment.span, segment.start, split, segment.end, std::nullopt, std::nullopt};
    entry.exposed_wait += split - segment.start;
    entry.exposed_transfer += segment.end - split;
    if (split > segment.start) charge(entry, wait, arrivals);
    ledger_.waits.push_back(wait);
  }

  void charge(LedgerEntry& entry, WaitSplit& wait, const Arrivals& arrivals) {
    const nanoseconds time = wait.split - wait.start;
    const bool unsure = time < timeline_.clock_error || !arrivals.last_rank;
    // A rank that blocks before its own arrival is a malformed recording: it waits for nobody.
    if (unsure || *arrivals.last_rank == entry.rank) {
      ++ledger_.uncharged_waits;
      entry.uncharged_wait += time;
      return;
    }
    const auto culprit = static_cast<std::size_t>(arrivals.last_rank->index);
    wait.last_arriver = arrivals.last_rank;
    wait.post = arrivals.posts[culprit];
    entry.waited_for[culprit] += time;
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
