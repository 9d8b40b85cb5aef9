// SPDX-License-Identifier: Apache-2.0
#include "trace/span_ledger.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace scaleworth::trace {
namespace {
using std::chrono::nanoseconds;

bool is_call(Activity activity) {
  return activity == Activity::post || activity == Activity::progress ||
         activity == Activity::collective_wait;
}

using AwayRanks = std::set<std::pair<nanoseconds, int>>;  // when each comes back, and who

struct Edge {
  nanoseconds time{};
  bool leaves = false;
  AwayRanks::value_type rank;
};

std::optional<Rank> last_back(const AwayRanks& away, nanoseconds clock_error) {
  const auto last = std::prev(away.end());
  if (away.size() > 1 && last->first - std::prev(last)->first <= clock_error) return std::nullopt;
  return Rank{last->second};
}

void append(std::vector<Stall>& stalls, const Stall& next) {
  if (next.time.start == next.time.end) return;
  if (!stalls.empty() && stalls.back().time.end == next.time.start &&
      stalls.back().rank == next.rank) {
    stalls.back().time.end = next.time.end;
  } else {
    stalls.push_back(next);
  }
}

std::vector<Stall> sweep(std::vector<Edge> edges, nanoseconds clock_error) {
  std::ranges::sort(edges, {}, [](const Edge& a) { return std::tie(a.time, a.leaves, a.rank); });
  std::vector<Stall> stalls;
  AwayRanks away;
  nanoseconds since{};
  for (const Edge& edge : edges) {
    if (!away.empty()) append(stalls, {{since, edge.time}, last_back(away, clock_error)});
    if (edge.leaves) {
      away.insert(edge.rank);
    } else {
      away.erase(edge.rank);
    }
    since = edge.time;
  }
  return stalls;
}
}  // namespace

StallTable::StallTable(const Timeline& timeline, const SegmentedTimeline& segmented)
    : clock_error_(timeline.clock_error) {
  for (const StepSegments& step : segmented.steps) add(step, timeline.spans);
  for (const Span& span : timeline.spans) {
    if (span.activity != Activity::collective_wait || !is_valid(span, timeline.ranks)) continue;
    const auto ranks = steps_.find(span.step);
    if (ranks == steps_.end()) continue;
    for (RankStep& step : ranks->second) {
      if (step.rank != span.rank.index) continue;
      const auto completion = step.completions.emplace(span.sequence, span.end).first;
      completion->second = std::min(completion->second, span.end);
    }
  }
}

void StallTable::add(const StepSegments& step, const std::vector<Span>& spans) {
  RankStep& added = steps_[step.step].emplace_back();
  added.rank = step.rank.index;
  nanoseconds back = step.end;
  for (auto segment = step.segments.rbegin(); segment != step.segments.rend(); ++segment) {
    const TimeRange time{segment->start, segment->end};
    if (is_call(spans[segment->span].activity)) {
      added.calls.push_back(time);
      back = segment->start;
    } else if (time.start < time.end) {
      added.absences.push_back({time, back});
    }
  }
  std::ranges::reverse(added.calls);
  std::ranges::reverse(added.absences);
}

nanoseconds StallTable::incomplete_until(const RankStep& step,
                                         std::int32_t sequence,
                                         nanoseconds arrived) {
  const auto known = step.completions.find(sequence);
  if (known != step.completions.end()) return known->second;
  const auto call = std::ranges::upper_bound(step.calls, arrived, {}, &TimeRange::end);
  return call == step.calls.end() ? arrived : call->start;
}

std::vector<Stall> StallTable::stalls(CollectiveKey collective,
                                      nanoseconds arrived,
                                      Rank waiter,
                                      TimeRange time) const {
  const auto ranks = steps_.find(collective.first);
  if (ranks == steps_.end()) return {};
  std::vector<Edge> edges;
  for (const RankStep& step : ranks->second) {
    if (step.rank == waiter.index) continue;
    const nanoseconds end = std::min(time.end, incomplete_until(step, collective.second, arrived));
    if (end <= time.start) continue;
    auto absence = std::ranges::upper_bound(
        step.absences, time.start, {}, [](const Absence& one) { return one.time.end; });
    for (; absence != step.absences.end() && absence->time.start < end; ++absence) {
      const AwayRanks::value_type rank{absence->back, step.rank};
      edges.push_back({std::max(absence->time.start, time.start), true, rank});
      edges.push_back({std::min(absence->time.end, end), false, rank});
    }
  }
  return sweep(std::move(edges), clock_error_);
}
}  // namespace scaleworth::trace
