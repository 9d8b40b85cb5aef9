// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/share_profile.h"

#include "src/core/statistics/student_t.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

namespace scaleworth::decide {
namespace {

constexpr int halvings = 40;
constexpr double normal_quantile = 1.281552;  // of 1 - share_error
static_assert(share_error == 0.1);

/// Columns 1/r and the two losses, each 1 at `ratio`, over the time; |X x - 1|^2 reduced to
/// |R x - q|^2 + free_squares.
class Problem {
 public:
  Problem(const std::vector<ShapePoint>& points, double ratio) {
    Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()), 3);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const ShapePoint& at = points[static_cast<std::size_t>(i)];
      rows(i, 0) = 1.0 / at.ratio / at.time;
      rows(i, 1) = (1.0 - 1.0 / at.ratio) / (1.0 - 1.0 / ratio) / at.time;
      rows(i, 2) = std::log2(at.ratio) / at.ratio / (std::log2(ratio) / ratio) / at.time;
    }
    const Eigen::HouseholderQR<Eigen::MatrixXd> decomposition(rows);
    r_ = decomposition.matrixQR().topRows(3).triangularView<Eigen::Upper>();
    const Eigen::VectorXd turned =
        decomposition.householderQ().transpose() * Eigen::VectorXd::Ones(rows.rows());
    q_ = turned.head(3);
  }

  /// The two losses of the best fit, of either sign.
  Eigen::Vector2d losses() const { return r_.colPivHouseholderQr().solve(q_).tail(2).eval(); }

  /// By how much the sum of squares exceeds that of the best fit.
  double excess(double share) const {
    Eigen::Matrix<double, 3, 2> columns;
    columns.col(0) = r_.col(0);
    columns.col(1) = share * r_.col(1) + (1.0 - share) * r_.col(2);
    const Eigen::Vector2d solution = columns.colPivHouseholderQr().solve(q_);
    return (columns * solution - q_).squaredNorm();
  }

 private:
  Eigen::Matrix3d r_;
  Eigen::Vector3d q_;
};

}  // namespace

std::optional<Interval<double>> level_share_profile(const std::vector<ShapePoint>& points,
                                                    const ShapeFits& fits,
                                                    double ratio) {
  if (!fits.relative_sd || points.size() < 3 || !(ratio > 1.0)) return std::nullopt;
  const double t = fits.degrees > 0.0 ? student_t_two_sided(1.0 - 2.0 * share_error, fits.degrees)
                                      : normal_quantile;
  const double allowance = std::pow(t * *fits.relative_sd, 2);
  const Problem problem(points, ratio);
  const Eigen::Vector2d losses = problem.losses();
  if (!(losses.sum() > 0.0)) return Interval<double>{0.0, 1.0};
  const double best = std::clamp(losses[0] / losses.sum(), 0.0, 1.0);
  const auto allowed = [&](double share) { return problem.excess(share) <= allowance; };
  if (!allowed(best)) return Interval<double>{best, best};
  const auto end = [&](double outside) {
    double inside = best;
    if (allowed(outside)) return outside;
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (inside + outside);
      (allowed(middle) ? inside : outside) = middle;
    }
    return inside;
  };
  return Interval<double>{end(0.0), end(1.0)};
}

}  // namespace scaleworth::decide
