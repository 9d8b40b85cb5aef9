// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/knee/kneedle.h"

#include <algorithm>

namespace scaleworth::decide {
namespace {

constexpr std::size_t fewest_points = 3;

/// y - x, both scaled to [0, 1]; empty for a flat curve.
std::vector<double> differences(const std::vector<SpeedupPoint>& points) {
  const auto slower = [](const SpeedupPoint& a, const SpeedupPoint& b) {
    return a.speedup < b.speedup;
  };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), slower);
  const double rise = most->speedup - least->speedup;
  const double run = points.back().count - points.front().count;
  std::vector<double> gaps;
  if (!(rise > 0.0) || !(run > 0.0)) return gaps;
  for (const SpeedupPoint& point : points) {
    gaps.push_back((point.speedup - least->speedup) / rise -
                   (point.count - points.front().count) / run);
  }
  return gaps;
}

}  // namespace

std::optional<int> kneedle(const std::vector<SpeedupPoint>& points) {
  if (points.size() < fewest_points) return std::nullopt;
  const std::vector<double> gaps = differences(points);
  if (gaps.empty()) return std::nullopt;
  const double mean_step = 1.0 / static_cast<double>(points.size() - 1);
  std::optional<std::size_t> candidate;
  for (std::size_t i = 1; i < gaps.size(); ++i) {
    if (candidate && gaps[i] < gaps[*candidate] - mean_step) return points[*candidate].count;
    const bool last = i + 1 == gaps.size();
    if (!last && gaps[i] >= gaps[i - 1] && gaps[i] > gaps[i + 1]) candidate = i;
  }
  return std::nullopt;
}

std::vector<KneedleReading> kneedle_readings(const std::vector<SpeedupPoint>& points) {
  std::vector<KneedleReading> readings;
  if (points.size() < fewest_points) return readings;
  std::vector<SpeedupPoint> half;
  std::copy_if(points.begin(), points.end(), std::back_inserter(half), [&](const auto& point) {
    return 2 * point.count <= points.back().count;
  });
  readings.push_back({points.front().count, points.back().count, kneedle(points)});
  if (half.size() >= fewest_points) {
    readings.push_back({half.front().count, half.back().count, kneedle(half)});
  }
  return readings;
}

}  // namespace scaleworth::decide
