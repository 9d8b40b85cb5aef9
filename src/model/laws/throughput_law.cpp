// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"

#include <set>

#include <Eigen/Dense>

namespace scaleworth::model {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int most_rounds = 500;
constexpr double confidence = 0.95;
constexpr double converged = 1e-14;  // relative decrease of the squares
constexpr double most_damping = 1e12;

VectorXd residuals_at(const std::vector<ThroughputPoint>& points, const Vector3d& p) {
  VectorXd residuals(static_cast<Index>(points.size()));
  for (Index i = 0; i < residuals.size(); ++i) {
    const auto& [n, throughput] = points[i];
    residuals[i] = throughput - p[2] * n / (1.0 + p[0] * (n - 1.0) + p[1] * n * (n - 1.0));
  }
  return residuals;
}

/// d X / d (alpha, beta, gamma), n x 3.
MatrixXd jacobian_at(const std::vector<ThroughputPoint>& points, const Vector3d& p) {
  MatrixXd rows(static_cast<Index>(points.size()), 3);
  for (Index i = 0; i < rows.rows(); ++i) {
    const double n = points[i].load;
    const double divisor = 1.0 + p[0] * (n - 1.0) + p[1] * n * (n - 1.0);
    const double slope = -p[2] * n / (divisor * divisor);
    rows.row(i) << slope * (n - 1.0), slope * n * (n - 1.0), n / divisor;
  }
  return rows;
}

/// One damped step within the bounds; parameters held at a bound that the step would leave stay.
Vector3d step_from(const Vector3d& p,
                   const MatrixXd& jacobian,
                   const VectorXd& residuals,
                   double damping) {
  Eigen::Matrix3d normal = jacobian.transpose() * jacobian;
  Vector3d gradient = jacobian.transpose() * residuals;
  for (Index j = 0; j < 2; ++j) {
    const bool held = (p[j] <= 0.0 && gradient[j] < 0.0) || (p[j] >= 1.0 && gradient[j] > 0.0);
    if (!held) continue;
    normal.row(j).setZero();
    normal.col(j).setZero();
    normal(j, j) = 1.0;
    gradient[j] = 0.0;
  }
  normal.diagonal() *= 1.0 + damping;
  // The parameters differ by orders of magnitude: solve in units of the diagonal.
  const Vector3d scale = normal.diagonal().cwiseSqrt();
  const Eigen::Matrix3d scaled =
      scale.cwiseInverse().asDiagonal() * normal * scale.cwiseInverse().asDiagonal();
  const Vector3d step = scaled.ldlt().solve(gradient.cwiseQuotient(scale)).cwiseQuotient(scale);
  Vector3d next = p + step;
  next[0] = std::clamp(next[0], 0.0, 1.0);
  next[1] = std::clamp(next[1], 0.0, 1.0);
  return next;
}

Vector3d minimise(const std::vector<ThroughputPoint>& points, Vector3d p) {
  double squares = residuals_at(points, p).squaredNorm();
  double damping = 1e-3;
  for (int round = 0; round < most_rounds && damping < most_damping; ++round) {
    const Vector3d next = step_from(p, jacobian_at(points, p), residuals_at(points, p), damping);
    const double after = residuals_at(points, next).squaredNorm();
    if (!(after < squares) || !(next[2] > 0.0)) {
      damping *= 10.0;
      continue;
    }
    const bool done = squares - after <= converged * squares;
    p = next;
    squares = after;
    damping *= 0.1;
    if (done) break;
  }
  return p;
}

/// Standard errors from the parameters that are free; those at a bound are taken as known.
void add_errors(ThroughputFit& fit, const Vector3d& p, const MatrixXd& jacobian) {
  const std::array parameters{&fit.contention, &fit.coherency, &fit.single};
  std::vector<Index> free;
  for (Index j = 0; j < 3; ++j)
    if (j == 2 || (p[j] > 0.0 && p[j] < 1.0)) free.push_back(j);
  const MatrixXd used = jacobian(Eigen::all, free);
  const VectorXd scale = used.colwise().norm();
  const MatrixXd scaled = used * scale.cwiseInverse().asDiagonal();
  const MatrixXd covariance = (scaled.transpose() * scaled).inverse();
  const double t = student_t_two_sided(confidence, static_cast<double>(fit.degrees));
  for (Index k = 0; k < used.cols(); ++k) {
    ThroughputParameter& one = *parameters[free[k]];
    const double error = fit.residual_sd * std::sqrt(covariance(k, k)) / scale[k];
    one.standard_error = error;
    one.interval = Interval<double>{one.value - t * error, one.value + t * error};
  }
}
}  // namespace

std::optional<ThroughputFit> fit_throughput(const std::vector<ThroughputPoint>& points) {
  std::set<double> loads;
  double single = 0.0;
  for (const auto& [load, throughput] : points) {
    if (!(load > 0.0 && throughput > 0.0 && std::isfinite(load) && std::isfinite(throughput))) {
      throw UserError("a law of throughput needs loads and throughputs above zero");
    }
    loads.insert(load);
    single = std::max(single, throughput / load);
  }
  if (loads.size() < 3) return std::nullopt;
  const Vector3d p = minimise(points, {0.01, 1e-4, single});
  const VectorXd residuals = residuals_at(points, p);
  ThroughputFit fit;
  fit.contention.value = p[0];
  fit.coherency.value = p[1];
  fit.single.value = p[2];
  fit.degrees = points.size() - 3;
  fit.residuals.assign(residuals.data(), residuals.data() + residuals.size());
  if (p[1] > 0.0) fit.peak_load = std::sqrt((1.0 - p[0]) / p[1]);
  if (p[0] > 0.0) fit.limit = p[2] / p[0];
  if (fit.degrees == 0) return fit;
  fit.residual_sd = std::sqrt(residuals.squaredNorm() / static_cast<double>(fit.degrees));
  add_errors(fit, p, jacobian_at(points, p));
  return fit;
}
}  // namespace scaleworth::model
