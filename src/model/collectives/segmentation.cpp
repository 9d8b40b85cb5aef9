// SPDX-License-Identifier: Apache-2.0
#include "src/model/collectives/segmentation.h"

#include "src/core/statistics/curve_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace scaleworth::model {
namespace {

constexpr std::size_t least_points = 3;
constexpr std::size_t most_segments = 3;
constexpr double least_noise = 0.01;
constexpr double corner = 2.385;  // 95 % efficiency at normal errors (Holland & Welsch 1977)
constexpr double unreachable = std::numeric_limits<double>::max();

struct Line {
  double alpha = 0.0;
  double beta = 0.0;
};

/// Sums of the normal equations of sum w (1 - (alpha u + beta v))^2, u = 1 / t, v = n / t.
struct Sums {
  double uu = 0.0, uv = 0.0, vv = 0.0, u = 0.0, v = 0.0;

  double loss(Line line) const {  // without the constant sum of w
    return line.alpha * (line.alpha * uu + 2.0 * line.beta * uv - 2.0 * u) +
           line.beta * (line.beta * vv - 2.0 * v);
  }
  Line best() const {
    const double determinant = uu * vv - uv * uv;
    if (determinant > 0.0) {
      const Line free{(u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant};
      if (free.alpha >= 0.0 && free.beta >= 0.0) return free;
    }
    const Line constant{u / uu, 0.0};
    const Line proportional{0.0, v / vv};
    return loss(constant) < loss(proportional) ? constant : proportional;
  }
};

/// Cauchy's loss: a stray point must not be worth a segment, yet a large misfit must stay worse
/// than a small one, which a bounded loss would forget.
double cauchy(double residual) {
  return 0.5 * corner * corner * std::log1p(residual * residual / (corner * corner));
}
double cauchy_weight(double residual) {
  return 1.0 / (1.0 + residual * residual / (corner * corner));
}

/// The robust loss of the best line through `points`, by reweighted least squares.
double line_cost(std::span<const TimedSize> points, double sigma) {
  constexpr int iterations = 15;
  const auto residual = [&](Line line, const TimedSize& point) {
    const double fitted = line.alpha + line.beta * point.message.value();
    return (fitted / point.time.value() - 1.0) / sigma;
  };
  Line line;
  for (int i = 0; i < iterations; ++i) {
    Sums sums;
    for (const TimedSize& point : points) {
      const double w = i == 0 ? 1.0 : cauchy_weight(residual(line, point));
      const double u = 1.0 / point.time.value();
      const double v = point.message.value() * u;
      sums.uu += w * u * u;
      sums.uv += w * u * v;
      sums.vv += w * v * v;
      sums.u += w * u;
      sums.v += w * v;
    }
    line = sums.best();
  }
  double cost = 0.0;
  for (const TimedSize& point : points) cost += cauchy(residual(line, point));
  return cost;
}

double noise_of(std::span<const TimedSize> points) {
  std::vector<double> logs;
  for (const TimedSize& point : points) logs.push_back(std::log(point.time.value()));
  return std::max(least_noise, curve_noise(logs));
}

}  // namespace

std::vector<std::size_t> segment_starts(std::span<const TimedSize> points) {
  const std::size_t n = points.size();
  if (n < 2 * least_points) return {0};
  const double sigma = noise_of(points);
  const double price = 1.5 * std::log(static_cast<double>(n));
  // cost[s][end]: least cost of the first `end` points in s + 1 segments; start: of the last one.
  std::array<std::vector<double>, most_segments> cost;
  std::array<std::vector<std::size_t>, most_segments> start;
  for (std::size_t s = 0; s < most_segments; ++s) {
    cost[s].assign(n + 1, unreachable);
    start[s].assign(n + 1, 0);
  }
  for (std::size_t end = least_points; end <= n; ++end) {
    for (std::size_t begin = 0; begin + least_points <= end; ++begin) {
      const double alone = line_cost(points.subspan(begin, end - begin), sigma);
      for (std::size_t s = begin == 0 ? 0 : 1; s < (begin == 0 ? 1 : most_segments); ++s) {
        const double before = begin == 0 ? 0.0 : cost[s - 1][begin];
        if (before == unreachable || before + price + alone >= cost[s][end]) continue;
        cost[s][end] = before + price + alone;
        start[s][end] = begin;
      }
    }
  }
  std::size_t segments = 0;
  for (std::size_t s = 1; s < most_segments; ++s) {
    if (cost[s][n] < cost[segments][n]) segments = s;
  }
  std::vector<std::size_t> starts;
  for (std::size_t end = n, s = segments + 1; s-- > 0; end = starts.back()) {
    starts.push_back(start[s][end]);
  }
  std::reverse(starts.begin(), starts.end());
  return starts;
}

}  // namespace scaleworth::model
