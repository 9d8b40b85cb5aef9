// SPDX-License-Identifier: Apache-2.0
/// Least squares under non-negativity; included by .cpp files only, for it speaks Eigen.
#pragma once

#include <Eigen/Core>

namespace scaleworth {

/// argmin |matrix x - target|^2 over x >= 0; entries at the bound are exactly 0.
/// `matrix` n x p of full column rank, `target` n. Source: Lawson & Hanson, Solving Least Squares
/// Problems (1974), chapter 23, algorithm NNLS.
Eigen::VectorXd solve_nonnegative(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& target);

}  // namespace scaleworth
