// SPDX-License-Identifier: Apache-2.0
#include "src/model/laws/linear_law.h"

#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"

#include <random>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double squared(double value) {
  return value * value;
}

/// One row per point, over its time, so that every residual is relative.
template <class Terms>
MatrixXd relative_design(const Terms& terms, std::span<const TimePoint> points) {
  MatrixXd rows(points.size(), terms.size());
  for (Index i = 0; i < rows.rows(); ++i) {
    const TimePoint& point = points[i];
    for (Index j = 0; j < rows.cols(); ++j) rows(i, j) = terms[j].at(point.count) / point.time;
  }
  return rows;
}

template <class Matrix>
std::span<const double> values_of(const Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

/// p x n, by thin QR: a square matrix of n rows would not fit for long tables.
MatrixXd pseudo_inverse(const MatrixXd& rows) {
  const Eigen::HouseholderQR<MatrixXd> factors(rows);
  const MatrixXd thin = factors.householderQ() * MatrixXd::Identity(rows.rows(), rows.cols());
  return factors.matrixQR()
      .topRows(rows.cols())
      .triangularView<Eigen::Upper>()
      .solve(thin.transpose());
}

/// 95 % quantile of chi-squared. Source: Wilson & Hilferty, PNAS 17 (1931).
double chi_squared_95(double degrees) {
  const double variance = 2.0 / (9.0 * degrees);
  // 95 % of a normal lies below 1.6449.
  return degrees * std::pow(1.0 - variance + 1.6449 * std::sqrt(variance), 3);
}
}  // namespace

double LinearLaw::at(double count) const {
  double time = known ? known(count) : 0.0;
  for (std::size_t j = 0; j < terms.size(); ++j) time += coefficients[j] * terms[j].at(count);
  return time;
}

double LinearLaw::coefficient(const LawTerm& term) const {
  const auto found = std::find(terms.begin(), terms.end(), term);
  return found == terms.end() ? 0.0 : coefficients[found - terms.begin()];
}

LinearLaw fit_linear(std::vector<LawTerm> terms, std::span<const TimePoint> points, TimeAt known) {
  const MatrixXd rows = relative_design(terms, points);
  VectorXd targets = VectorXd::Ones(rows.rows());
  for (Index i = 0; known && i < rows.rows(); ++i) {
    targets[i] -= known(points[i].count) / points[i].time;
  }
  LinearLaw law;
  law.terms = std::move(terms);
  law.known = std::move(known);
  law.coefficients = solve_nonnegative(values_of(rows), values_of(targets));
  const Eigen::Map<const VectorXd> solution(law.coefficients.data(), rows.cols());
  const double squares = (rows * solution - targets).squaredNorm();
  law.residual = std::sqrt(squares / static_cast<double>(rows.rows()));
  return law;
}

void check_time(double time) {
  if (time > 0.0 && std::isfinite(time)) return;
  throw UserError("a scaling law needs step times above zero; measure again");
}

MeasuredNoise measured_noise(std::span<const TimePoint> points) {
  MeasuredNoise noise;
  for (const TimePoint& point : points) {
    noise.known = noise.known && point.relative_sd.has_value();
    noise.variance += squared(point.relative_sd.value_or(0.0)) / static_cast<double>(points.size());
    noise.degrees += static_cast<double>(point.repeats > 1 ? point.repeats - 1 : 0);
  }
  return noise;
}

LawNoise law_noise(std::span<const TimePoint> points, double residual, std::size_t parameters) {
  const auto degrees = static_cast<double>(points.size() - parameters);
  const double squares = squared(residual) * static_cast<double>(points.size());
  const MeasuredNoise measured = measured_noise(points);
  LawNoise noise;
  if (!measured.known || squares > measured.variance * chi_squared_95(degrees)) {
    noise.relative_sd.assign(points.size(), std::sqrt(squares / degrees));
    noise.residual_degrees = degrees;
    noise.allowance = squared(student_t_two_sided(confidence, degrees)) * squares / degrees;
    return noise;
  }
  for (const TimePoint& point : points) {
    noise.relative_sd.push_back(point.relative_sd.value_or(0.0));
  }
  const double t =
      measured.degrees > 0.0 ? student_t_two_sided(confidence, measured.degrees) : normal_reach;
  noise.allowance = t * t * measured.variance;
  return noise;
}

void add_draws(std::span<LinearLaw> laws,
               std::span<const TimePoint> points,
               const LawNoise& noise,
               std::uint64_t seed,
               int draws) {
  std::mt19937_64 generator(seed);
  for (LinearLaw& law : laws) {
    const MatrixXd rows = relative_design(law.terms, points);
    const MatrixXd inverse = pseudo_inverse(rows);
    std::normal_distribution<double> normal;
    std::chi_squared_distribution<double> chi_squared(std::max(1.0, noise.residual_degrees));
    VectorXd targets(rows.rows());
    for (int draw = 0; draw < draws; ++draw) {
      double scale = 1.0;
      if (noise.residual_degrees > 0.0) {
        scale = std::sqrt(noise.residual_degrees / chi_squared(generator));
      }
      for (Index i = 0; i < targets.size(); ++i) {
        targets[i] = 1.0 + noise.relative_sd[i] * scale * normal(generator);
      }
      // The free solution is the bounded one wherever it is positive, and costs no search.
      const VectorXd free = inverse * targets;
      law.draws.push_back(free.minCoeff() > 0.0
                              ? std::vector<double>(free.begin(), free.end())
                              : solve_nonnegative(values_of(rows), values_of(targets)));
    }
  }
}

PlainLine plain_line(const std::vector<double>& x, const std::vector<double>& y) {
  PlainLine line;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    line.mean_x += x[i] / n;
    line.mean_y += y[i] / n;
  }
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - line.mean_x) * (y[i] - line.mean_y);
    squares += (x[i] - line.mean_x) * (x[i] - line.mean_x);
  }
  if (squares > 0.0) line.slope = products / squares;
  return line;
}

LawProblem law_problem(const std::array<LawTerm, 3>& terms, std::span<const TimePoint> points) {
  const MatrixXd rows = relative_design(terms, points);
  const Eigen::HouseholderQR<MatrixXd> factors(rows);
  VectorXd ones = VectorXd::Ones(rows.rows());
  ones.applyOnTheLeft(factors.householderQ().adjoint());
  LawProblem problem;
  Eigen::Map<Eigen::Matrix3d> r(problem.columns.front().data());
  const Index kept = std::min<Index>(3, rows.rows());
  r.topRows(kept) = factors.matrixQR().topRows(kept).triangularView<Eigen::Upper>();
  std::copy_n(ones.begin(), kept, problem.q.begin());
  problem.free_squares = ones.tail(rows.rows() - kept).squaredNorm();
  return problem;
}
}  // namespace scaleworth::model
