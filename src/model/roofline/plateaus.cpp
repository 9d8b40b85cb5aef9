// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/plateaus.h"

#include "src/core/statistics/curve_noise.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scaleworth::model {
namespace {

constexpr double plateau_cost = 6.0;
constexpr double transition_cost = 4.0;  // a point 2.8 sigma off stops belonging to its plateau
constexpr std::size_t least_points = 2;
constexpr double least_noise = 0.03;  // drift within a level that nobody would call a level
const double least_step = std::log(1.15);

double huber(double residual) {
  constexpr double corner = 3.0;
  const double size = std::abs(residual);
  return size <= corner ? 0.5 * size * size : corner * (size - 0.5 * corner);
}

double stretch_cost(std::span<const double> logs, double sigma) {
  const double height = *median(logs);
  double cost = plateau_cost;
  for (const double y : logs) cost += huber((y - height) / sigma);
  return cost;
}

/// start[j]: where the last stretch before point j begins; j - 1 itself for a transition point.
std::vector<std::size_t> best_starts(std::span<const double> logs, double sigma) {
  const std::size_t n = logs.size();
  std::vector<double> cost(n + 1, std::numeric_limits<double>::max());
  std::vector<std::size_t> start(n + 1, 0);
  cost[0] = 0.0;
  for (std::size_t end = 1; end <= n; ++end) {
    cost[end] = cost[end - 1] + transition_cost;
    start[end] = end - 1;
    for (std::size_t begin = 0; begin + least_points <= end; ++begin) {
      const double total = cost[begin] + stretch_cost(logs.subspan(begin, end - begin), sigma);
      if (total < cost[end]) {
        cost[end] = total;
        start[end] = begin;
      }
    }
  }
  return start;
}

/// Joins neighbours that are no 15 % apart; a stray point between them goes along.
std::vector<Plateau> merge_similar(std::span<const double> logs, std::vector<Plateau> plateaus) {
  for (std::size_t i = 0; i + 1 < plateaus.size();) {
    Plateau& left = plateaus[i];
    const Plateau& right = plateaus[i + 1];
    if (std::abs(left.height - right.height) >= least_step) {
      ++i;
      continue;
    }
    left.last = right.last;
    left.height = *median(logs.subspan(left.first, left.last - left.first + 1));
    plateaus.erase(plateaus.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (i > 0) --i;
  }
  return plateaus;
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const double> logs) {
  const double sigma = std::max(curve_noise(logs), least_noise);
  const std::vector<std::size_t> start = best_starts(logs, sigma);
  std::vector<Plateau> plateaus;
  for (std::size_t end = logs.size(); end > 0; end = start[end]) {
    const std::size_t length = end - start[end];
    if (length < least_points) continue;
    plateaus.push_back({start[end], end - 1, *median(logs.subspan(start[end], length))});
  }
  std::reverse(plateaus.begin(), plateaus.end());
  return merge_similar(logs, std::move(plateaus));
}

}  // namespace scaleworth::model
