// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/residuals.h"

#include "trace/analysis/clocks/robust.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::trace {
namespace {

std::optional<nanoseconds> quantile(const std::vector<WeightedValue>& values, double p) {
  const std::optional<double> found = weighted_quantile(values, p);
  if (!found) return std::nullopt;
  return nanoseconds(static_cast<std::int64_t>(*found));
}

/// Median of `ends`, sorted, without the one at `left_out`.
double median_without(const std::vector<std::pair<double, std::uint32_t>>& ends,
                      std::size_t left_out) {
  const std::size_t count = ends.size() - 1;
  const auto at = [&](std::size_t place) {
    return ends[place < left_out ? place : place + 1].first;
  };
  return (at((count - 1) / 2) + at(count / 2)) / 2.0;
}

}  // namespace

ClockResiduals clock_residuals(const Meetings& meetings, const ClockMap& clocks) {
  std::vector<std::vector<WeightedValue>> by_rank(clocks.ranks());
  std::vector<WeightedValue> all;
  std::vector<std::pair<double, std::uint32_t>> ends;
  for (const Meetings::Meeting& meeting : meetings.meetings) {
    ends.clear();
    nanoseconds origin{};
    for (const MeetingSide& side : meetings.sides_of(meeting)) {
      const nanoseconds end = clocks.to_common(side.rank, side.end);
      if (ends.empty()) origin = end;
      ends.emplace_back(static_cast<double>((end - origin).count()), side.rank);
    }
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double residual = std::abs(ends[i].first - median_without(ends, i));
      by_rank[ends[i].second].push_back({residual, meeting.weight});
      all.push_back({residual, meeting.weight});
    }
  }
  ClockResiduals residuals;
  for (const std::vector<WeightedValue>& values : by_rank)
    residuals.by_rank.push_back(
        {quantile(values, 0.5), quantile(values, 0.95), std::ssize(values)});
  residuals.p50 = quantile(all, 0.5);
  residuals.p95 = quantile(all, 0.95);
  return residuals;
}

}  // namespace scaleworth::trace
