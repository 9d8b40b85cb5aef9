// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/nonnegative.h"

#include <algorithm>
#include <vector>

#include <Eigen/Dense>

namespace scaleworth {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<Index> chosen(const std::vector<bool>& free) {
  std::vector<Index> columns;
  for (std::size_t j = 0; j < free.size(); ++j) {
    if (free[j]) columns.push_back(static_cast<Index>(j));
  }
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
    const std::vector<Index> columns = chosen(free);
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

}  // namespace

VectorXd solve_nonnegative(const MatrixXd& matrix, const VectorXd& target) {
  VectorXd x = VectorXd::Zero(matrix.cols());
  std::vector<bool> free(matrix.cols(), false);
  const VectorXd reference = matrix.transpose() * target;
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

}  // namespace scaleworth
