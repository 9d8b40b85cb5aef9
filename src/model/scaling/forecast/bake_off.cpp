// SPDX-License-Identifier: Apache-2.0
#include "src/model/scaling/forecast/bake_off.h"

#include "src/core/error.h"
#include "src/core/statistics/nonnegative.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace scaleworth::model {
namespace {

constexpr std::size_t first_forecast = 4;  // as many points as the largest law has columns
constexpr std::size_t most_forecasts = 20;
constexpr std::size_t most_points = 500;

struct Family {
  const char* name;
  std::array<bool, 4> columns;  // 1/K, 1, log2 K, K - 1
};

constexpr std::array families{Family{"constant", {false, true, false, false}},
                              Family{"constant and logarithm", {false, true, true, false}},
                              Family{"Amdahl", {true, true, false, false}},
                              Family{"Amdahl and logarithm", {true, true, true, false}},
                              Family{"contention-coherency", {true, true, false, true}},
                              Family{"all four terms", {true, true, true, true}}};

std::array<double, 4> columns_at(int ranks) {
  return {1.0 / ranks, 1.0, std::log2(ranks), ranks - 1.0};
}

double time_of(const std::array<double, 4>& coefficients, int ranks) {
  const std::array<double, 4> columns = columns_at(ranks);
  double time = 0.0;
  for (std::size_t i = 0; i < columns.size(); ++i) time += coefficients[i] * columns[i];
  return time;
}

/// To the first `count` points.
std::array<double, 4> fit(const Family& family,
                          const std::vector<LawPoint>& points,
                          std::size_t count) {
  const auto used = std::count(family.columns.begin(), family.columns.end(), true);
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(count), used);
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<double, 4> columns = columns_at(points[i].ranks);
    Eigen::Index next = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (family.columns[c]) {
        rows(static_cast<Eigen::Index>(i), next++) = columns[c] / points[i].time;
      }
    }
  }
  const Eigen::VectorXd solved = solve_nonnegative(rows, Eigen::VectorXd::Ones(rows.rows()));
  std::array<double, 4> coefficients{};
  Eigen::Index next = 0;
  for (std::size_t c = 0; c < coefficients.size(); ++c) {
    if (family.columns[c]) coefficients[c] = solved[next++];
  }
  return coefficients;
}

double relative_error(const std::array<double, 4>& coefficients, const LawPoint& point) {
  return time_of(coefficients, point.ranks) / point.time - 1.0;
}

CandidateLaw judged(const Family& family, const std::vector<LawPoint>& points, std::size_t from) {
  CandidateLaw law;
  law.name = family.name;
  law.coefficients = fit(family, points, points.size());
  double squares = 0.0;
  for (const LawPoint& point : points) {
    squares += std::pow(relative_error(law.coefficients, point), 2);
  }
  law.residual = std::sqrt(squares / static_cast<double>(points.size()));
  for (std::size_t i = from; i < points.size(); ++i) {
    const double error = std::abs(relative_error(fit(family, points, i), points[i]));
    law.held_out += error / static_cast<double>(points.size() - from);
    law.worst = std::max(law.worst, error);
  }
  return law;
}

/// Ascending, one point per count.
void tidy(std::vector<LawPoint>& points) {
  std::sort(points.begin(), points.end(), [](const LawPoint& a, const LawPoint& b) {
    return a.ranks < b.ranks;
  });
  const auto last =
      std::unique(points.begin(), points.end(), [](const LawPoint& a, const LawPoint& b) {
        return a.ranks == b.ranks;
      });
  points.erase(last, points.end());
  for (const LawPoint& point : points) {
    if (!(point.time > 0.0) || !std::isfinite(point.time) || point.ranks < 1) {
      throw UserError("a scaling law needs counts and step times above zero; measure again");
    }
  }
}

std::vector<LawPoint> thinned(const std::vector<LawPoint>& points) {
  if (points.size() <= most_points) return points;
  std::vector<LawPoint> kept;
  for (std::size_t i = 0; i < most_points; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (most_points - 1)]);
  }
  return kept;
}

}  // namespace

std::optional<BakeOff> bake_off(std::vector<LawPoint> points) {
  tidy(points);
  points = thinned(points);
  if (points.size() <= first_forecast) return std::nullopt;
  std::size_t from = first_forecast;
  if (points.size() - from > most_forecasts) from = points.size() - most_forecasts;
  BakeOff result;
  result.forecasts = points.size() - from;
  for (const Family& family : families) result.laws.push_back(judged(family, points, from));
  // Fewer terms come first: where two predict alike, the simpler law is taken.
  std::stable_sort(result.laws.begin(), result.laws.end(), [](const auto& a, const auto& b) {
    return a.held_out < b.held_out;
  });
  return result;
}

double candidate_time(const CandidateLaw& law, int ranks) {
  return time_of(law.coefficients, ranks);
}

}  // namespace scaleworth::model
