// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/linear_law.h"

#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {
using Eigen::Vector3d;

constexpr double confidence = 0.95;
constexpr double normal_975 = 1.959964;

/// 95 % quantile of chi-squared. Source: Wilson & Hilferty, PNAS 17 (1931).
double chi_squared_95(double degrees) {
  const double variance = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - variance + 1.6449 * std::sqrt(variance), 3);
}

/// min over a, b >= 0 of |a u + b v - w|^2.
double least_squares_of_two(const Vector3d& u, const Vector3d& v, const Vector3d& w) {
  const double uu = u.squaredNorm();
  const double vv = v.squaredNorm();
  const double uv = u.dot(v);
  const double determinant = uu * vv - uv * uv;
  if (determinant > 0.0) {
    const double a = (vv * u.dot(w) - uv * v.dot(w)) / determinant;
    const double b = (uu * v.dot(w) - uv * u.dot(w)) / determinant;
    if (a >= 0.0 && b >= 0.0) return (a * u + b * v - w).squaredNorm();
  }
  const double a = uu > 0.0 ? std::max(0.0, u.dot(w) / uu) : 0.0;
  const double b = vv > 0.0 ? std::max(0.0, v.dot(w) / vv) : 0.0;
  return std::min((a * u - w).squaredNorm(), (b * v - w).squaredNorm());
}

/// The edges of { x >= 0, contrast . x = 0 }, a cone in a plane: at most two.
std::vector<Vector3d> edges_of(const Vector3d& contrast) {
  std::vector<Vector3d> edges;
  for (Eigen::Index i = 0; i < 3; ++i) {
    if (contrast[i] == 0.0) edges.push_back(Vector3d::Unit(i));
    for (Eigen::Index j = i + 1; j < 3; ++j) {
      if (contrast[i] * contrast[j] >= 0.0) continue;
      Vector3d edge = Vector3d::Zero();
      edge[i] = std::abs(contrast[j]);
      edge[j] = std::abs(contrast[i]);
      edges.push_back(edge);
    }
  }
  return edges;
}

struct MeasuredNoise {
  bool known = true;  // at every point
  double variance = 0.0;
  double degrees = 0.0;  // 0: not counted
};

MeasuredNoise measured_noise(const std::vector<LawPoint>& points) {
  MeasuredNoise noise;
  for (const LawPoint& point : points) {
    noise.known = noise.known && point.relative_sd.has_value();
    noise.variance +=
        std::pow(point.relative_sd.value_or(0.0), 2) / static_cast<double>(points.size());
    noise.degrees += static_cast<double>(point.repeats > 1 ? point.repeats - 1 : 0);
  }
  return noise;
}

double squared(double value) {
  return value * value;
}
}  // namespace

Eigen::RowVector3d law_columns(double count) {
  return {1.0 / count, 1.0, count - 1.0};
}

Eigen::MatrixXd relative_design(const std::vector<LawPoint>& points) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()), 3);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const LawPoint& point = points[static_cast<std::size_t>(i)];
    if (!(point.time > 0.0) || !std::isfinite(point.time)) {
      throw UserError("a scaling law needs step times above zero; measure again");
    }
    rows.row(i) = law_columns(point.ranks) / point.time;
  }
  return rows;
}

LawProblem law_problem(const std::vector<LawPoint>& points) {
  const Eigen::MatrixXd rows = relative_design(points);
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(rows);
  Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows.rows());
  ones.applyOnTheLeft(factors.householderQ().adjoint());
  LawProblem problem;
  problem.rows = points.size();
  problem.r = Eigen::Matrix3d::Zero();
  problem.q = Vector3d::Zero();
  const Eigen::Index kept = std::min<Eigen::Index>(3, rows.rows());
  problem.r.topRows(kept) = factors.matrixQR().topRows(kept).triangularView<Eigen::Upper>();
  problem.q.head(kept) = ones.head(kept);
  problem.free_squares = ones.tail(rows.rows() - kept).squaredNorm();
  return problem;
}

double squares_at(const LawProblem& problem, const Vector3d& x) {
  return (problem.r * x - problem.q).squaredNorm() + problem.free_squares;
}

std::optional<double> least_squares_on(const LawProblem& problem, const Vector3d& contrast) {
  const std::vector<Vector3d> edges = edges_of(contrast);
  if (edges.empty()) return std::nullopt;
  const Vector3d first = problem.r * edges.front();
  const Vector3d second = problem.r * edges.back();
  return least_squares_of_two(first, second, problem.q) + problem.free_squares;
}

double least_squares_with_single(const LawProblem& problem, double single) {
  // x = (single, 0, 0) + a (-1, 1, 0) + b (0, 0, 1), b >= 0: convex in a, so that the least on
  // 0 <= a <= single is the larger of the least on a >= 0 and on a <= single.
  const Vector3d coherency = problem.r.col(2);
  const Vector3d parallel = problem.q - single * problem.r.col(0);
  const Vector3d serial = problem.q - single * problem.r.col(1);
  const Vector3d shift = problem.r.col(1) - problem.r.col(0);
  const double from_parallel = least_squares_of_two(shift, coherency, parallel);
  const double from_serial = least_squares_of_two(-shift, coherency, serial);
  return std::max(from_parallel, from_serial) + problem.free_squares;
}

LawNoise law_noise(const std::vector<LawPoint>& points, const ContentionFit& fit) {
  const auto degrees = static_cast<double>(points.size() - law_parameters);
  const double squares = squared(fit.residual) * static_cast<double>(points.size());
  const MeasuredNoise measured = measured_noise(points);
  LawNoise noise;
  if (!measured.known || squares > measured.variance * chi_squared_95(degrees)) {
    noise.relative_sd.assign(points.size(), std::sqrt(squares / degrees));
    noise.residual_degrees = degrees;
    noise.allowance = squared(student_t_two_sided(confidence, degrees)) * squares / degrees;
    return noise;
  }
  for (const LawPoint& point : points) noise.relative_sd.push_back(point.relative_sd.value_or(0.0));
  const double t =
      measured.degrees > 0.0 ? student_t_two_sided(confidence, measured.degrees) : normal_975;
  noise.allowance = t * t * measured.variance;
  return noise;
}

Vector3d law_vector(const ContentionFit& fit) {
  return {fit.single * (1.0 - fit.serial), fit.single * fit.serial, fit.single * fit.coherency};
}
}  // namespace scaleworth::model
