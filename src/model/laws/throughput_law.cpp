// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/contention_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace scaleworth::model {
namespace {
constexpr int most_rounds = 500;
constexpr double confidence = 0.95;
constexpr double converged = 1e-14;  // relative decrease of the squares
constexpr double most_damping = 1e12;

double law_at(const Vector3& p, double load) {
  return p[2] * load / (1.0 + p[0] * (load - 1.0) + p[1] * load * (load - 1.0));
}

std::vector<double> residuals_at(const std::vector<ThroughputPoint>& points, const Vector3& p) {
  std::vector<double> residuals;
  for (const ThroughputPoint& at : points) residuals.push_back(at.throughput - law_at(p, at.load));
  return residuals;
}

double squares_at(const std::vector<ThroughputPoint>& points, const Vector3& p) {
  double squares = 0.0;
  for (const double residual : residuals_at(points, p)) squares += residual * residual;
  return squares;
}

/// d X / d (alpha, beta, gamma) at one load.
Vector3 slopes_at(double n, const Vector3& p) {
  const double divisor = 1.0 + p[0] * (n - 1.0) + p[1] * n * (n - 1.0);
  const double slope = -p[2] * n / (divisor * divisor);
  return {slope * (n - 1.0), slope * n * (n - 1.0), n / divisor};
}

/// The normal equations. A parameter that is held has the equation x = 0.
struct Normal {
  Normal(const std::vector<ThroughputPoint>& points, const Vector3& p) {
    for (const ThroughputPoint& at : points) {
      const Vector3 slopes = slopes_at(at.load, p);
      const double residual = at.throughput - law_at(p, at.load);
      for (std::size_t i = 0; i < 3; ++i) {
        gradient[i] += slopes[i] * residual;
        for (std::size_t j = 0; j < 3; ++j) matrix[i][j] += slopes[i] * slopes[j];
      }
    }
  }
  void hold(std::size_t parameter) {
    for (std::size_t i = 0; i < 3; ++i) matrix[i][parameter] = matrix[parameter][i] = 0.0;
    matrix[parameter][parameter] = 1.0;
    gradient[parameter] = 0.0;
  }
  /// The parameters differ by orders of magnitude: inverted in units of the diagonal.
  Matrix3 inverted() const {
    const Vector3 scale{std::sqrt(matrix[0][0]), std::sqrt(matrix[1][1]), std::sqrt(matrix[2][2])};
    const auto over_scale = [&](Matrix3 of) {
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) of[i][j] /= scale[i] * scale[j];
      }
      return of;
    };
    return over_scale(inverse(over_scale(matrix)));
  }

  Matrix3 matrix{};
  Vector3 gradient{};
};

/// One damped step within the bounds; parameters held at a bound that the step would leave stay.
Vector3 step_from(const std::vector<ThroughputPoint>& points, const Vector3& p, double damping) {
  Normal normal(points, p);
  for (std::size_t j = 0; j < 2; ++j) {
    const double towards = normal.gradient[j];
    if ((p[j] <= 0.0 && towards < 0.0) || (p[j] >= 1.0 && towards > 0.0)) normal.hold(j);
  }
  for (std::size_t j = 0; j < 3; ++j) normal.matrix[j][j] *= 1.0 + damping;
  const Vector3 step = product(normal.inverted(), normal.gradient);
  return {
      std::clamp(p[0] + step[0], 0.0, 1.0), std::clamp(p[1] + step[1], 0.0, 1.0), p[2] + step[2]};
}

Vector3 minimise(const std::vector<ThroughputPoint>& points, Vector3 p) {
  double squares = squares_at(points, p);
  double damping = 1e-3;
  for (int round = 0; round < most_rounds && damping < most_damping; ++round) {
    const Vector3 next = step_from(points, p, damping);
    const double after = squares_at(points, next);
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

void check(const std::vector<ThroughputPoint>& points) {
  for (const ThroughputPoint& at : points) {
    const bool usable = at.load > 0.0 && at.throughput > 0.0 && std::isfinite(at.load) &&
                        std::isfinite(at.throughput);
    if (!usable) throw UserError("a law of throughput needs loads and throughputs above zero");
  }
}

Vector3 start_of(const std::vector<ThroughputPoint>& points) {
  double single = 0.0;
  for (const ThroughputPoint& at : points) single = std::max(single, at.throughput / at.load);
  return {0.01, 1e-4, single};
}

/// Standard errors from the parameters that are free; those at a bound are taken as known.
void add_errors(ThroughputFit& fit, const std::vector<ThroughputPoint>& points, const Vector3& p) {
  const std::array<ThroughputParameter*, 3> parameters{
      &fit.contention, &fit.coherency, &fit.single};
  const auto free = [&](std::size_t j) { return j == 2 || (p[j] > 0.0 && p[j] < 1.0); };
  Normal normal(points, p);
  for (std::size_t j = 0; j < 3; ++j) {
    if (!free(j)) normal.hold(j);
  }
  const Matrix3 covariance = normal.inverted();
  const double t = student_t_two_sided(confidence, static_cast<double>(fit.degrees));
  for (std::size_t j = 0; j < 3; ++j) {
    if (!free(j)) continue;
    ThroughputParameter& one = *parameters[j];
    const double error = fit.residual_sd * std::sqrt(covariance[j][j]);
    one.standard_error = error;
    one.interval = Interval<double>{one.value - t * error, one.value + t * error};
  }
}
}  // namespace

double throughput_at(const ThroughputFit& fit, double load) {
  return law_at({fit.contention.value, fit.coherency.value, fit.single.value}, load);
}

std::optional<ThroughputFit> fit_throughput(const std::vector<ThroughputPoint>& points) {
  check(points);
  std::set<double> loads;
  for (const ThroughputPoint& at : points) loads.insert(at.load);
  if (loads.size() < 3) return std::nullopt;
  const Vector3 p = minimise(points, start_of(points));
  ThroughputFit fit;
  fit.contention.value = p[0];
  fit.coherency.value = p[1];
  fit.single.value = p[2];
  fit.degrees = points.size() - 3;
  fit.residuals = residuals_at(points, p);
  if (p[1] > 0.0) fit.peak_load = std::sqrt((1.0 - p[0]) / p[1]);
  if (p[0] > 0.0) fit.limit = p[2] / p[0];
  if (fit.degrees == 0) return fit;
  fit.residual_sd = std::sqrt(squares_at(points, p) / static_cast<double>(fit.degrees));
  add_errors(fit, points, p);
  return fit;
}
}  // namespace scaleworth::model
