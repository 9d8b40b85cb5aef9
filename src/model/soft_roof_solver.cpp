// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <unsupported/Eigen/LevenbergMarquardt>

namespace scaleworth::model {
namespace {
constexpr double least_sharpness = 1.0;
constexpr double largest_sharpness = 64.0;
const double log_least_sharpness = std::log(least_sharpness);
const double log_sharpness_range = std::log(largest_sharpness / least_sharpness);

/// The unbounded variable u of the solver and log p = low + range / (1 + exp(-u)).
double logistic(double u) {
  return 1.0 / (1.0 + std::exp(-u));
}
double sharpness_of(double u) {
  return std::exp(log_least_sharpness + log_sharpness_range * logistic(u));
}
double unbounded(double sharpness) {
  const double share = (std::log(sharpness) - log_least_sharpness) / log_sharpness_range;
  const double inside = std::clamp(share, 1e-3, 1.0 - 1e-3);
  return std::log(inside / (1.0 - inside));
}

/// sqrt(2 pseudo-huber) with its sign, so that its square is the loss, and its derivative.
struct Robust {
  double value = 0.0;
  double slope = 1.0;
};

Robust robust(double residual, double corner) {
  const double x = residual / corner;
  const double root = std::sqrt(1.0 + x * x);
  // root - 1 = x^2 / (root + 1), without cancellation.
  const double value = x * std::sqrt(2.0 / (root + 1.0));
  const double slope = 1.0 / (root * std::sqrt(2.0 / (root + 1.0)));
  return {value * corner, slope};
}

struct Residuals : Eigen::DenseFunctor<double> {
  Residuals(std::span<const double> x, std::span<const double> y, double huber_corner)
      : DenseFunctor(3, static_cast<int>(x.size())),
        log_intensities(x),
        log_rates(y),
        corner(huber_corner) {}

  int operator()(const InputType& u, ValueType& residuals) const {
    const RoofShape shape{u[0], u[1], sharpness_of(u[2])};
    for (Eigen::Index i = 0; i < residuals.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      residuals[i] = robust(log_rate(shape, log_intensities[at]) - log_rates[at], corner).value;
    }
    return 0;
  }

  // log P(I) = logP - log(1 + e^(p d)) / p with d = logP - logB - logI.
  int df(const InputType& u, JacobianType& jacobian) const {
    const double p = sharpness_of(u[2]);
    const RoofShape shape{u[0], u[1], p};
    const double log_p_slope = log_sharpness_range * logistic(u[2]) * (1.0 - logistic(u[2]));
    for (Eigen::Index i = 0; i < jacobian.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double fitted = log_rate(shape, log_intensities[at]);
      const double distance = u[0] - u[1] - log_intensities[at];
      const double memory_share = logistic(p * distance);
      // d/d(log p) of -log(1 + e^(p d)) / p = log(1 + e^(p d)) / p - d e^(p d) / (1 + e^(p d)).
      const double by_log_p = (u[0] - fitted) - distance * memory_share;
      const double slope = robust(fitted - log_rates[at], corner).slope;
      jacobian(i, 0) = slope * (1.0 - memory_share);
      jacobian(i, 1) = slope * memory_share;
      jacobian(i, 2) = slope * by_log_p * log_p_slope;
    }
    return 0;
  }

  std::span<const double> log_intensities;
  std::span<const double> log_rates;
  double corner;
};

double loss(const RoofShape& shape,
            std::span<const double> log_intensities,
            std::span<const double> log_rates,
            double corner) {
  double sum = 0.0;
  for (std::size_t i = 0; i < log_rates.size(); ++i) {
    const double part = robust(log_rate(shape, log_intensities[i]) - log_rates[i], corner).value;
    sum += part * part;
  }
  return sum;
}

RoofShape best_of_starts(std::span<const double> log_intensities,
                         std::span<const double> log_rates,
                         double corner) {
  const double peak = *std::max_element(log_rates.begin(), log_rates.end());
  double bandwidth = -std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < log_rates.size(); ++i) {
    bandwidth = std::max(bandwidth, log_rates[i] - log_intensities[i]);
  }
  RoofShape best;
  double least = std::numeric_limits<double>::max();
  for (const double sharpness : {1.5, 3.0, 12.0}) {
    const RoofShape found =
        refine({peak, bandwidth, sharpness}, log_intensities, log_rates, corner);
    const double reached = loss(found, log_intensities, log_rates, corner);
    if (reached < least) {
      least = reached;
      best = found;
    }
  }
  return best;
}
}  // namespace

double log_rate(const RoofShape& shape, double log_intensity) {
  const double memory = shape.log_bandwidth + log_intensity;
  const double apart = shape.sharpness * std::abs(shape.log_peak - memory);
  return std::min(shape.log_peak, memory) - std::log1p(std::exp(-apart)) / shape.sharpness;
}

RoofShape refine(const RoofShape& start,
                 std::span<const double> log_intensities,
                 std::span<const double> log_rates,
                 double corner) {
  Residuals residuals(log_intensities, log_rates, corner);
  Eigen::LevenbergMarquardt<Residuals> solver(residuals);
  Eigen::VectorXd u(3);
  u << start.log_peak, start.log_bandwidth, unbounded(start.sharpness);
  solver.minimize(u);
  return {u[0], u[1], sharpness_of(u[2])};
}

RoofShape solve(std::span<const double> log_intensities,
                std::span<const double> log_rates,
                double& corner) {
  constexpr double practically_quadratic = 10.0;  // in logarithms: a factor of 22000
  constexpr double least_corner = 0.005;
  constexpr double sigma_per_mad = 1.4826;
  constexpr double huber_tuning = 1.345;
  constexpr int passes = 4;  // a stray rung inflates the first spread; later passes shed it
  corner = practically_quadratic;
  RoofShape shape = best_of_starts(log_intensities, log_rates, corner);
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < log_rates.size(); ++i) {
      sizes.push_back(std::abs(log_rate(shape, log_intensities[i]) - log_rates[i]));
    }
    corner = std::max(least_corner, huber_tuning * sigma_per_mad * *median(sizes));
    shape = best_of_starts(log_intensities, log_rates, corner);
  }
  return shape;
}
}  // namespace scaleworth::model
