// SPDX-License-Identifier: Apache-2.0
/// The contention-coherency law as a linear least-squares problem, reduced to three rows; included
/// by .cpp files only, for it speaks Eigen.
///   T(K) = x0 / K + x1 + x2 (K - 1),   x = (T1 (1 - s), T1 s, T1 c) >= 0
#pragma once

#include "src/model/laws/contention_law.h"

#include <cstddef>
#include <optional>
#include <vector>

#include <Eigen/Core>

namespace scaleworth::model {
inline constexpr std::size_t law_parameters = 3;

/// (1/K, 1, K - 1).
Eigen::RowVector3d law_columns(double count);

/// n x 3, each row over its measured time, so that every residual is relative. Throws UserError for
/// a time that is not positive.
Eigen::MatrixXd relative_design(const std::vector<LawPoint>& points);

/// |J x - 1|^2 = |R x - q|^2 + free_squares for the relative design J = Q R: whatever the number of
/// rows, each question costs a product of three by three.
struct LawProblem {
  Eigen::Matrix3d r;
  Eigen::Vector3d q;
  double free_squares = 0.0;
  std::size_t rows = 0;
};
LawProblem law_problem(const std::vector<LawPoint>& points);

double squares_at(const LawProblem& problem, const Eigen::Vector3d& x);

/// Least squares over x >= 0 with contrast . x = 0: a hypothesis on a ratio of the parameters.
/// Absent when only x = 0 fulfils it.
std::optional<double> least_squares_on(const LawProblem& problem, const Eigen::Vector3d& contrast);

/// The same for x0 + x1 = `single`: a hypothesis on T1 > 0.
double least_squares_with_single(const LawProblem& problem, double single);

/// By which sum of squares a hypothesis may exceed the best fit at 95 %: t^2 variance, the
/// variance measured by repetitions (t with their degrees of freedom) unless the residuals exceed
/// it (chi-squared, 5 %), else from the residuals on n - 3 degrees of freedom.
struct LawNoise {
  std::vector<double> relative_sd;  // by point
  double residual_degrees = 0.0;    // 0 when measured
  double allowance = 0.0;
};
LawNoise law_noise(const std::vector<LawPoint>& points, const ContentionFit& fit);

/// The three numbers of the linear problem.
Eigen::Vector3d law_vector(const ContentionFit& fit);
}  // namespace scaleworth::model
