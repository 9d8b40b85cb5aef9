// SPDX-License-Identifier: Apache-2.0
#include "trace/spans/segments.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace scaleworth::trace {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds time_limit{std::int64_t{1} << 61};

std::vector<std::size_t> canonical_order(const std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t index) {
    const Span& s = spans[index];
    return std::tie(s.step, s.rank, s.start, s.end, s.activity, s.sequence, s.name);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  return order;
}

void append(StepSegments& step, const Span& span, std::size_t index, TimelineLosses& losses) {
  const nanoseconds start = std::clamp(span.start, step.start, step.end);
  const nanoseconds end = std::clamp(span.end, step.start, step.end);
  const bool apart = span.end < step.start || span.start > step.end;
  const nanoseconds outside = (span.end - span.start) - (end - start);
  if (apart || outside > nanoseconds::zero()) {
    ++losses.outside_spans;
    losses.outside_time += outside;
  }
  if (apart) return;
  const nanoseconds free = step.segments.empty() ? step.start : step.segments.back().end;
  const nanoseconds cut = std::min(std::max(start, free), end);
  if (start < free) {
    ++losses.overlapping_spans;
    losses.overlapping_time += cut - start;
    if (end <= free) return;
  }
  step.segments.push_back({index, cut, end});
}

using StepKey = std::pair<std::int32_t, int>;

std::map<StepKey, std::size_t> index_steps(const std::vector<Span>& spans,
                                           const std::vector<std::size_t>& order,
                                           SegmentedTimeline& result) {
  std::map<StepKey, std::size_t> position;
  for (const std::size_t index : order) {
    const Span& span = spans[index];
    if (span.activity != Activity::step) continue;
    if (!position.emplace(StepKey{span.step, span.rank.index}, result.steps.size()).second) {
      ++result.losses.duplicate_steps;
      continue;
    }
    result.steps.push_back({span.step, span.rank, index, span.start, span.end, {}});
  }
  return position;
}

std::int64_t count_missing(const std::vector<StepSegments>& steps, int ranks) {
  std::set<std::int32_t> numbers;
  for (const StepSegments& step : steps) numbers.insert(step.step);
  return static_cast<std::int64_t>(numbers.size()) * ranks -
         static_cast<std::int64_t>(steps.size());
}

}  // namespace

bool is_valid(const Span& span, int ranks) {
  return span.rank.index >= 0 && span.rank.index < ranks && span.start >= -time_limit &&
         span.end <= time_limit && span.start <= span.end;
}

SegmentedTimeline segment(const Timeline& timeline) {
  SegmentedTimeline result;
  std::vector<std::size_t> order = canonical_order(timeline.spans);
  const auto first_invalid = std::stable_partition(order.begin(), order.end(), [&](auto index) {
    return is_valid(timeline.spans[index], timeline.ranks);
  });
  result.losses.invalid_spans = order.end() - first_invalid;
  order.erase(first_invalid, order.end());
  const auto position = index_steps(timeline.spans, order, result);
  for (const std::size_t index : order) {
    const Span& span = timeline.spans[index];
    if (span.activity == Activity::step) continue;
    const auto found = position.find({span.step, span.rank.index});
    if (found == position.end()) {
      ++result.losses.orphan_spans;
    } else {
      append(result.steps[found->second], span, index, result.losses);
    }
  }
  result.losses.missing_steps = count_missing(result.steps, timeline.ranks);
  return result;
}

std::map<std::string, double> loss_counters(const TimelineLosses& losses) {
  std::map<std::string, double> counters{
      {"invalid_spans", static_cast<double>(losses.invalid_spans)},
      {"duplicate_steps", static_cast<double>(losses.duplicate_steps)},
      {"missing_steps", static_cast<double>(losses.missing_steps)},
      {"orphan_spans", static_cast<double>(losses.orphan_spans)},
      {"overlapping_spans", static_cast<double>(losses.overlapping_spans)},
      {"overlapping_time_ns", static_cast<double>(losses.overlapping_time.count())},
      {"outside_spans", static_cast<double>(losses.outside_spans)},
      {"outside_time_ns", static_cast<double>(losses.outside_time.count())}};
  std::erase_if(counters, [](const auto& counter) { return counter.second == 0.0; });
  return counters;
}

}  // namespace scaleworth::trace
