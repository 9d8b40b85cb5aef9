// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/regression.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/laws/classic_laws.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <Eigen/Dense>

namespace scaleworth::decide {
namespace {
constexpr int draw_count = 200;
/// Clocks and job starts: no run's time is known better than this.
constexpr double least_noise = 1e-4;

double value_of(Shape shape, double ratio) {
  switch (shape) {
    case Shape::ideal:
      return 1.0 / ratio;
    case Shape::level:
      return 1.0;
    case Shape::logarithm:
      return std::log2(ratio);
    case Shape::linear:
      return ratio - 1.0;
    case Shape::falling_short:
      break;
  }
  return std::log2(ratio) / ratio;
}

Eigen::MatrixXd design(const std::vector<ShapePoint>& points, const ShapeFamily& family) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(points.size()),
                       static_cast<Eigen::Index>(family.shapes.size()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const ShapePoint& point = points[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < rows.cols(); ++j) {
      rows(i, j) = value_of(family.shapes[static_cast<std::size_t>(j)], point.ratio) / point.time;
    }
  }
  return rows;
}

ShapeFit solved(const ShapeFamily& family,
                const Eigen::MatrixXd& rows,
                const Eigen::VectorXd& targets) {
  const Eigen::VectorXd solution = solve_nonnegative(rows, targets);
  ShapeFit fit;
  fit.family = family;
  fit.coefficients.assign(solution.data(), solution.data() + solution.size());
  const double squares = (rows * solution - targets).squaredNorm();
  fit.residual = std::sqrt(squares / static_cast<double>(rows.rows()));
  return fit;
}

double lost_of(Shape shape, double coefficient, double ratio) {
  return coefficient * (value_of(shape, ratio) - value_of(shape, 1.0) / ratio);
}

template <class Coefficients>
std::optional<double> share_of(const ShapeFamily& family,
                               const Coefficients& coefficients,
                               double ratio) {
  double level = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < family.shapes.size(); ++i) {
    const Shape shape = family.shapes[i];
    const double lost = lost_of(shape, coefficients[static_cast<Eigen::Index>(i)], ratio);
    all += lost;
    if (shape == Shape::level) level += lost;
  }
  return all > 0.0 ? std::optional<double>(level / all) : std::nullopt;
}

double squares_of(const ShapeFit& fit, std::size_t rows) {
  return fit.residual * fit.residual * static_cast<double>(rows);
}

void add_noise(ShapeFits& fits, const std::vector<ShapePoint>& points) {
  double measured = 0.0;
  bool known = true;
  for (const ShapePoint& point : points) {
    known = known && point.relative_sd.has_value();
    measured += std::pow(point.relative_sd.value_or(0.0), 2) / static_cast<double>(points.size());
  }
  const std::size_t terms = fits.fits.back().coefficients.size();
  if (known) {
    fits.relative_sd = std::max(least_noise, std::sqrt(measured));
  } else if (points.size() > terms) {
    fits.degrees = static_cast<double>(points.size() - terms);
    fits.relative_sd = std::max(least_noise, std::sqrt(fits.richest_squares / fits.degrees));
  }
}

/// Upper 5 % of F with `terms` (1 or 2; more are judged as 2) and `degrees` degrees of freedom,
/// times `terms`; of chi-squared for `degrees` = 0.
double critical(std::size_t terms, double degrees) {
  if (terms == 0) return 0.0;
  if (terms == 1) {
    const double t = degrees > 0.0 ? student_t_two_sided(0.95, degrees) : 1.959964;
    return t * t;
  }
  // P(F(2, v) > x) = (1 + 2x/v)^(-v/2).
  if (degrees > 0.0) return degrees * (std::pow(0.05, -2.0 / degrees) - 1.0);
  return -2.0 * std::log(0.05);
}

void add_draws(std::vector<double>& shares,
               const std::vector<ShapePoint>& points,
               const ShapeFits& fits,
               const ShapeFit& fit,
               double ratio,
               std::mt19937_64& generator) {
  // Without a second term the share is the same in every draw.
  if (fit.family.shapes.size() < 3) return;
  const Eigen::MatrixXd rows = design(points, fit.family);
  const Eigen::MatrixXd inverse = rows.completeOrthogonalDecomposition().pseudoInverse();
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi_squared(std::max(1.0, fits.degrees));
  for (int draw = 0; draw < draw_count; ++draw) {
    const double scale =
        fits.degrees > 0.0 ? std::sqrt(fits.degrees / chi_squared(generator)) : 1.0;
    Eigen::VectorXd targets(rows.rows());
    for (Eigen::Index i = 0; i < targets.size(); ++i) {
      const ShapePoint& point = points[static_cast<std::size_t>(i)];
      const double sd = fits.degrees > 0.0 ? *fits.relative_sd : *point.relative_sd;
      targets[i] = 1.0 + sd * scale * normal(generator);
    }
    // The free solution is the bounded one wherever it is positive, and costs no search.
    const Eigen::VectorXd free = inverse * targets;
    const Eigen::VectorXd drawn = free.minCoeff() >= 0.0 ? free : solve_nonnegative(rows, targets);
    if (const auto share = share_of(fit.family, drawn, ratio)) shares.push_back(*share);
  }
}
}  // namespace

double ShapeFit::coefficient(Shape shape) const {
  for (std::size_t i = 0; i < family.shapes.size(); ++i) {
    if (family.shapes[i] == shape) return coefficients[i];
  }
  return 0.0;
}

double ShapeFit::time(double ratio) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    sum += coefficients[i] * value_of(family.shapes[i], ratio);
  }
  return sum;
}

double ShapeFit::lost(Shape shape, double ratio) const {
  return lost_of(shape, coefficient(shape), ratio);
}

bool ShapeFits::holds(double squares, std::size_t fewer_terms) const {
  if (!relative_sd) return true;
  const double excess = squares - richest_squares;
  return excess <= *relative_sd * *relative_sd * critical(fewer_terms, degrees);
}

std::vector<ShapePoint> thinned(const std::vector<ShapePoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<ShapePoint> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(points[i * (points.size() - 1) / (most - 1)]);
  }
  return kept;
}

ShapeFits fit_shapes(const std::vector<ShapePoint>& points,
                     const std::vector<ShapeFamily>& families) {
  ShapeFits result;
  for (const ShapeFamily& family : families) {
    const Eigen::MatrixXd rows = design(points, family);
    result.fits.push_back(solved(family, rows, Eigen::VectorXd::Ones(rows.rows())));
  }
  result.richest_squares = squares_of(result.fits.back(), points.size());
  add_noise(result, points);
  const std::size_t most = families.back().shapes.size();
  for (ShapeFit& fit : result.fits) {
    fit.holds = result.holds(squares_of(fit, points.size()), most - fit.coefficients.size());
  }
  return result;
}

std::optional<double> level_share(const ShapeFit& fit, double ratio) {
  const Eigen::Map<const Eigen::VectorXd> coefficients(
      fit.coefficients.data(), static_cast<Eigen::Index>(fit.coefficients.size()));
  return share_of(fit.family, coefficients, ratio);
}

std::optional<Interval<double>> level_share(const std::vector<ShapePoint>& points,
                                            const ShapeFits& fits,
                                            double ratio,
                                            std::uint64_t seed) {
  if (!fits.relative_sd) return std::nullopt;
  std::mt19937_64 generator(seed);
  std::optional<Interval<double>> range;
  const auto include = [&](double low, double high) {
    if (!range) range = Interval<double>{low, high};
    range = Interval<double>{std::min(range->low, low), std::max(range->high, high)};
  };
  for (const ShapeFit& fit : fits.fits) {
    if (!fit.holds) continue;
    if (const auto own = level_share(fit, ratio)) include(*own, *own);
    std::vector<double> shares;
    add_draws(shares, points, fits, fit, ratio, generator);
    const auto low = quantile(shares, 0.025);
    const auto high = quantile(shares, 0.975);
    if (low && high) include(*low, *high);
  }
  return range;
}
}  // namespace scaleworth::decide
