// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"

#include "src/core/statistics/sample_statistics.h"

#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

namespace scaleworth {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Relative residuals below this are rounding, not measurement.
constexpr double negligible = 1e-12;
constexpr double tuning = 1.345;         // Huber's threshold in robust standard deviations
constexpr int absolute_iterations = 20;  // only a start for the robust steps: near is enough
constexpr int scaling_iterations = 30;   // the scale settles in some ten; then it is held
constexpr int maximum_iterations = 200;  // it converges in tens; else the last step is as good

void check_input(const std::vector<std::vector<double>>& rows, const std::vector<double>& y) {
  if (rows.empty() || rows.size() != y.size() || rows.front().empty() ||
      rows.size() < rows.front().size()) {
    throw std::invalid_argument("fit_relative: as many rows as values, at least one per column");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows.front().size())
      throw std::invalid_argument("fit_relative: ragged rows");
    if (!(std::isfinite(y[i]) && y[i] > 0.0) ||
        !std::all_of(rows[i].begin(), rows[i].end(), [](double x) { return std::isfinite(x); })) {
      throw std::invalid_argument("fit_relative: values must be finite, y positive");
    }
  }
}

/// Rows divided by their y, columns then divided by their norms: the residual is 1 - A b.
struct RelativeProblem {
  MatrixXd matrix;
  VectorXd column_norms;
};

std::optional<RelativeProblem> relative_problem(const std::vector<std::vector<double>>& rows,
                                                const std::vector<double>& y) {
  const auto columns = static_cast<Index>(rows.front().size());
  RelativeProblem problem{MatrixXd(static_cast<Index>(rows.size()), columns), VectorXd(columns)};
  for (Index i = 0; i < problem.matrix.rows(); ++i) {
    for (Index j = 0; j < columns; ++j) problem.matrix(i, j) = rows[i][j] / y[i];
  }
  problem.column_norms = problem.matrix.colwise().stableNorm();
  if (!problem.column_norms.allFinite() || problem.column_norms.minCoeff() <= 0.0)
    return std::nullopt;
  problem.matrix *= problem.column_norms.cwiseInverse().asDiagonal();
  Eigen::ColPivHouseholderQR<MatrixXd> decomposition(problem.matrix);
  // Columns so nearly parallel leave no digits to tell their coefficients apart (double has 16).
  decomposition.setThreshold(1e-10);
  if (decomposition.rank() < columns) return std::nullopt;
  return problem;
}

/// The columns of which `holds(column)`.
template <class Holds>
std::vector<Index> columns_where(Index count, Holds holds) {
  std::vector<Index> columns;
  for (Index j = 0; j < count; ++j)
    if (holds(j)) columns.push_back(j);
  return columns;
}

/// The unconstrained solution in the free columns, 0 in the others.
VectorXd solve_free(const MatrixXd& matrix,
                    const VectorXd& target,
                    const std::vector<Index>& columns) {
  VectorXd result = VectorXd::Zero(matrix.cols());
  if (columns.empty()) return result;
  const MatrixXd used = matrix(Eigen::all, columns);
  result(columns) = used.colPivHouseholderQr().solve(target);
  return result;
}

/// Moves from the feasible `x` towards the free solution; whatever would become negative first is
/// frozen at 0, until the free solution is positive.
void settle(const MatrixXd& matrix, const VectorXd& target, std::vector<bool>& free, VectorXd& x) {
  while (true) {
    const std::vector<Index> columns = columns_where(x.size(), [&](Index j) { return free[j]; });
    const VectorXd aim = solve_free(matrix, target, columns);
    double step = 1.0;
    Index blocking = -1;
    for (const Index j : columns) {
      if (aim[j] > 0.0) continue;
      const double ratio = x[j] > 0.0 ? x[j] / (x[j] - aim[j]) : 0.0;
      if (blocking < 0 || ratio < step) {
        step = ratio;
        blocking = j;
      }
    }
    if (blocking < 0) {
      x = aim;
      return;
    }
    x += step * (aim - x);
    x[blocking] = 0.0;
    free[blocking] = false;
  }
}

VectorXd solve_bounded(const MatrixXd& matrix, const VectorXd& target) {
  VectorXd x = VectorXd::Zero(matrix.cols());
  std::vector<bool> free(matrix.cols(), false);
  const VectorXd reference = matrix.transpose() * target;
  // A gradient of rounding only; the second number guards against targets that are all zero.
  const double tolerance = 1e-12 * std::max(reference.cwiseAbs().maxCoeff(), 1e-300);
  // Each column enters at most a few times; the bound only guards against rounding.
  for (Index round = 0; round < 10 * matrix.cols(); ++round) {
    const VectorXd gradient = matrix.transpose() * (target - matrix * x);
    Index best = -1;
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (!free[j] && gradient[j] > tolerance && (best < 0 || gradient[j] > gradient[best]))
        best = j;
    }
    if (best < 0) break;
    free[best] = true;
    settle(matrix, target, free, x);
  }
  return x;
}

double robust_scale(const VectorXd& residuals, Index columns) {
  std::vector<double> sizes(residuals.size());
  for (Index i = 0; i < residuals.size(); ++i) sizes[i] = std::abs(residuals[i]);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(sizes.begin(), sizes.begin() + std::min(columns - 1, residuals.size() - 1));
  // 1 / `sigma_per_mad`.
  return std::max(median(sizes).value_or(0.0) / 0.6745, negligible);
}

VectorXd huber_weights(const VectorXd& residuals, double threshold) {
  return residuals.unaryExpr(
      [&](double r) { return std::abs(r) <= threshold ? 1.0 : threshold / std::abs(r); });
}

struct Solution {
  VectorXd scaled;  // coefficients of the scaled columns
  VectorXd residuals;
  double scale = 0.0;
};

Solution iterate(const MatrixXd& matrix) {
  Solution state;
  VectorXd weights = VectorXd::Ones(matrix.rows());
  const auto solve = [&] {
    const VectorXd root = weights.cwiseSqrt();
    state.scaled = solve_bounded(root.asDiagonal() * matrix, root);
    state.residuals = VectorXd::Ones(matrix.rows()) - matrix * state.scaled;
  };
  solve();
  for (int i = 0; i < absolute_iterations; ++i) {
    // Least absolute residuals by weights 1 / |r|; a row that is met exactly keeps a finite one.
    weights = state.residuals.cwiseAbs().cwiseMax(1e-8).cwiseInverse();
    weights /= weights.maxCoeff();
    solve();
  }
  for (int i = 0; i < maximum_iterations; ++i) {
    // Later the scale is held: the problem is then convex and the iteration cannot cycle.
    if (i < scaling_iterations) state.scale = robust_scale(state.residuals, matrix.cols());
    weights = huber_weights(state.residuals, tuning * state.scale);
    const VectorXd before = state.scaled;
    solve();
    if ((state.scaled - before).norm() <= 1e-12 * state.scaled.norm()) break;
  }
  return state;
}

/// Of the scaled coefficients `free`; the others have none. Needs more points than free columns.
MatrixXd huber_covariance(const MatrixXd& matrix,
                          const Solution& solution,
                          const std::vector<Index>& free) {
  const auto points = static_cast<double>(matrix.rows());
  const auto columns = static_cast<double>(free.size());
  const double threshold = tuning * solution.scale;
  double inside = 0.0;
  double squares = 0.0;
  for (const double residual : solution.residuals) {
    inside += std::abs(residual) <= threshold ? 1.0 : 0.0;
    squares += std::pow(std::min(std::abs(residual), threshold), 2);
  }
  // The median of |residuals| lies inside the threshold, so the share is about 1/2 at least.
  const double share = std::max(inside, 1.0) / points;
  const double correction = 1.0 + columns / points * (1.0 - share) / share;
  const MatrixXd used = matrix(Eigen::all, free);
  const double factor = correction * correction * squares / (points - columns) / (share * share);
  return factor * (used.transpose() * used).inverse();
}

/// Intervals of the coefficients that are not held at 0.
void add_intervals(std::vector<Estimate<double>>& coefficients,
                   const RelativeProblem& problem,
                   const Solution& solution) {
  const std::vector<Index> free =
      columns_where(problem.matrix.cols(), [&](Index j) { return solution.scaled[j] != 0.0; });
  const Index degrees_of_freedom = problem.matrix.rows() - static_cast<Index>(free.size());
  if (free.empty() || degrees_of_freedom == 0) return;
  const MatrixXd covariance = huber_covariance(problem.matrix, solution, free);
  const double quantile = student_t_two_sided(confidence, static_cast<double>(degrees_of_freedom));
  for (std::size_t a = 0; a < free.size(); ++a) {
    const double norm = problem.column_norms[free[a]];
    const double half = quantile * std::sqrt(covariance(a, a) / (norm * norm));
    Estimate<double>& one = coefficients[free[a]];
    one.interval = Interval<double>{std::max(0.0, one.value - half), one.value + half};
  }
}
}  // namespace

std::optional<RegressionFit> fit_relative(const std::vector<std::vector<double>>& rows,
                                          const std::vector<double>& y) {
  check_input(rows, y);
  const std::optional<RelativeProblem> problem = relative_problem(rows, y);
  if (!problem) return std::nullopt;
  const Solution solution = iterate(problem->matrix);
  RegressionFit fit;
  fit.relative_residuals.assign(solution.residuals.begin(), solution.residuals.end());
  for (Index j = 0; j < problem->matrix.cols(); ++j) {
    fit.coefficients.push_back(
        {solution.scaled[j] / problem->column_norms[j], std::nullopt, rows.size()});
  }
  add_intervals(fit.coefficients, *problem, solution);
  return fit;
}

std::vector<double> solve_nonnegative(std::span<const double> matrix,
                                      std::span<const double> target) {
  const Eigen::Map<const VectorXd> values(target.data(), static_cast<Index>(target.size()));
  const Eigen::Map<const MatrixXd> columns(
      matrix.data(), values.size(), static_cast<Index>(matrix.size() / target.size()));
  const VectorXd solved = solve_bounded(columns, values);
  return {solved.begin(), solved.end()};
}
}  // namespace scaleworth
