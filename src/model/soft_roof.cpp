// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <fmt/format.h>
#include <unsupported/Eigen/LevenbergMarquardt>

namespace scaleworth::model {
namespace {
constexpr double least_sharpness = 1.0;
/// Beyond this a corner looks perfect (1 % below it at the ridge): the fit's cap.
constexpr double largest_sharpness = 64.0;
const double log_least_sharpness = std::log(least_sharpness);
const double log_sharpness_range = std::log(largest_sharpness / least_sharpness);

/// The curve in logarithms: peak in FLOP/s, bandwidth in B/s, sharpness p in [1, 64].
struct RoofShape {
  double log_peak = 0.0;
  double log_bandwidth = 0.0;
  double sharpness = 1.0;
};

/// log P(I) at log intensity.
double log_rate(const RoofShape& shape, double log_intensity) {
  const double memory = shape.log_bandwidth + log_intensity;
  const double apart = shape.sharpness * std::abs(shape.log_peak - memory);
  return std::min(shape.log_peak, memory) - std::log1p(std::exp(-apart)) / shape.sharpness;
}

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

/// Minimises sum of huber((log_rates - log P(I)) / corner), quadratic up to `corner`.
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

/// The best of several starts; the corner follows from the residuals' spread.
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

struct Ladder {
  std::vector<double> log_intensities;
  std::vector<double> log_rates;
  std::vector<MedianResampler> resamplers;
  std::size_t samples = 0;
};

Ladder logarithms(std::span<const RoofSample> rungs) {
  Ladder ladder;
  for (const RoofSample& rung : rungs) {
    ladder.resamplers.emplace_back(rung.rates);
    ladder.log_intensities.push_back(std::log(rung.intensity.value()));
    ladder.log_rates.push_back(std::log(ladder.resamplers.back().median()));
    ladder.samples += rung.rates.size();
  }
  return ladder;
}

/// Residuals of the fit, widened for the three fitted parameters.
std::vector<double> widened_residuals(const Ladder& ladder, const RoofShape& shape) {
  const auto n = static_cast<double>(ladder.log_rates.size());
  std::vector<double> residuals;
  for (std::size_t i = 0; i < ladder.log_rates.size(); ++i) {
    residuals.push_back((ladder.log_rates[i] - log_rate(shape, ladder.log_intensities[i])) *
                        std::sqrt(n / (n - 3.0)));
  }
  return residuals;
}

/// Bootstrap draws of each result, in logarithms.
struct Draws {
  std::vector<double> peak, bandwidth, sharpness, ridge;
  void add(const RoofShape& shape) {
    peak.push_back(shape.log_peak);
    bandwidth.push_back(shape.log_bandwidth);
    sharpness.push_back(std::log(shape.sharpness));
    ridge.push_back(shape.log_peak - shape.log_bandwidth);
  }
};

/// Refits with every rung's logarithm from `redrawn(rung, random)`.
template <class Redrawn>
Draws resample(const Ladder& ladder, const RoofShape& shape, double corner, Redrawn redrawn) {
  constexpr int resamples = 200;
  std::mt19937_64 random(1);
  Draws draws;
  std::vector<double> log_rates(ladder.log_rates.size());
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t j = 0; j < log_rates.size(); ++j) log_rates[j] = redrawn(j, random);
    draws.add(refine(shape, ladder.log_intensities, log_rates, corner));
  }
  return draws;
}

template <class T>
Estimate<T> from_logarithm(double log_value,
                           std::span<const double> noise,
                           std::span<const double> misfit,
                           std::size_t samples) {
  // With the value itself: a percentile interval of a parameter at its bound can miss it.
  const auto interval = hull(hull(percentile_interval(noise), percentile_interval(misfit)),
                             Interval<double>{log_value, log_value});
  const Estimate<double> logs{log_value, interval, samples};
  return transform(logs, [](double value) { return T(std::exp(value)); });
}

/// Why P or B would be an extrapolation; empty when the ladder reaches both sides of the ridge.
std::string missing_side(const Ladder& ladder, const RoofShape& shape) {
  const double clear = std::log(1.5);
  const double ridge = shape.log_peak - shape.log_bandwidth;
  const auto [least, most] =
      std::minmax_element(ladder.log_intensities.begin(), ladder.log_intensities.end());
  if (*least > ridge - clear) return "no rung is limited by memory";
  if (*most < ridge + clear) return "no rung is limited by compute";
  return "";
}

std::string describe_sharpness(const Estimate<double>& sharpness) {
  // From half the cap on the corner is within 2 % of a perfect one.
  if (!sharpness.interval || sharpness.interval->high < 0.5 * largest_sharpness) return "";
  return fmt::format(
      "at least {:.2g}; not identifiable beyond: too few rungs at the corner to distinguish it "
      "from a "
      "perfect one",
      sharpness.interval->low);
}

std::vector<IntensityPoint> points_of(std::span<const RoofSample> rungs) {
  std::vector<IntensityPoint> points;
  for (const RoofSample& rung : rungs) {
    points.push_back({rung.intensity, transform(median_estimate(rung.rates), [](double rate) {
                        return FlopPerSecond(rate);
                      })});
  }
  return points;
}
}  // namespace

FlopPerSecond soft_roof_rate(FlopPerSecond peak,
                             BytesPerSecond bandwidth,
                             double sharpness,
                             FlopPerByte intensity) {
  const RoofShape shape{std::log(peak.value()), std::log(bandwidth.value()), sharpness};
  return FlopPerSecond(std::exp(log_rate(shape, std::log(intensity.value()))));
}

Outcome<SoftRoof> fit_soft_roof(std::span<const RoofSample> rungs) {
  constexpr std::size_t least_rungs = 5;
  if (rungs.size() < least_rungs) {
    return Skipped{fmt::format("{} rungs, needs {}", rungs.size(), least_rungs)};
  }
  const Ladder ladder = logarithms(rungs);
  double corner = 0.0;
  const RoofShape shape = solve(ladder.log_intensities, ladder.log_rates, corner);
  if (std::string reason = missing_side(ladder, shape); !reason.empty()) return Skipped{reason};

  const std::vector<double> residuals = widened_residuals(ladder, shape);
  std::uniform_int_distribution<std::size_t> pick(0, residuals.size() - 1);
  const Draws noise = resample(ladder, shape, corner, [&](std::size_t i, auto& random) {
    return std::log(ladder.resamplers[i].draw(random));
  });
  const Draws misfit = resample(ladder, shape, corner, [&](std::size_t i, auto& random) {
    return log_rate(shape, ladder.log_intensities[i]) + residuals[pick(random)];
  });
  const std::size_t n = ladder.samples;
  SoftRoof roof;
  roof.points = points_of(rungs);
  roof.peak = from_logarithm<FlopPerSecond>(shape.log_peak, noise.peak, misfit.peak, n);
  roof.bandwidth =
      from_logarithm<BytesPerSecond>(shape.log_bandwidth, noise.bandwidth, misfit.bandwidth, n);
  roof.sharpness =
      from_logarithm<double>(std::log(shape.sharpness), noise.sharpness, misfit.sharpness, n);
  roof.sharpness_note = describe_sharpness(roof.sharpness);
  roof.ridge = from_logarithm<FlopPerByte>(
      shape.log_peak - shape.log_bandwidth, noise.ridge, misfit.ridge, n);
  std::vector<double> sizes;
  for (std::size_t i = 0; i < ladder.log_rates.size(); ++i) {
    sizes.push_back(
        std::abs(std::expm1(ladder.log_rates[i] - log_rate(shape, ladder.log_intensities[i]))));
  }
  roof.median_residual = *median(sizes);
  return roof;
}
}  // namespace scaleworth::model
