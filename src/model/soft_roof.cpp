// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <cmath>
#include <limits>

#include <Eigen/Core>
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

/// Measured rates over intensities, both as logarithms.
struct Rungs {
  std::span<const double> log_intensities;
  std::span<const double> log_rates;
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
  Residuals(const Rungs& measured, double huber_corner)
      : DenseFunctor(3, static_cast<int>(measured.log_rates.size())),
        rungs(measured),
        corner(huber_corner) {}

  int operator()(const InputType& u, ValueType& residuals) const {
    const RoofShape shape{u[0], u[1], sharpness_of(u[2])};
    for (Eigen::Index i = 0; i < residuals.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      residuals[i] =
          robust(log_rate(shape, rungs.log_intensities[at]) - rungs.log_rates[at], corner).value;
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
      const double fitted = log_rate(shape, rungs.log_intensities[at]);
      const double distance = u[0] - u[1] - rungs.log_intensities[at];
      const double memory_share = logistic(p * distance);
      // d/d(log p) of -log(1 + e^(p d)) / p = log(1 + e^(p d)) / p - d e^(p d) / (1 + e^(p d)).
      const double by_log_p = (u[0] - fitted) - distance * memory_share;
      const double slope = robust(fitted - rungs.log_rates[at], corner).slope;
      jacobian(i, 0) = slope * (1.0 - memory_share);
      jacobian(i, 1) = slope * memory_share;
      jacobian(i, 2) = slope * by_log_p * log_p_slope;
    }
    return 0;
  }

  Rungs rungs;
  double corner;
};

/// Minimises sum of huber((log_rates - log P(I)) / corner), quadratic up to `corner`.
RoofShape refine(const RoofShape& start, const Rungs& rungs, double corner) {
  Residuals residuals(rungs, corner);
  Eigen::LevenbergMarquardt<Residuals> solver(residuals);
  Eigen::VectorXd u(3);
  u << start.log_peak, start.log_bandwidth, unbounded(start.sharpness);
  solver.minimize(u);
  return {u[0], u[1], sharpness_of(u[2])};
}

/// Measured logarithms less those of the curve.
std::vector<double> residuals_of(const RoofShape& shape, const Rungs& rungs) {
  std::vector<double> residuals(rungs.log_rates.begin(), rungs.log_rates.end());
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    residuals[i] -= log_rate(shape, rungs.log_intensities[i]);
  }
  return residuals;
}

RoofShape best_of_starts(const Rungs& rungs, double corner) {
  const auto& [log_intensities, log_rates] = rungs;
  const double peak = std::ranges::max(log_rates);
  double bandwidth = -std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < log_rates.size(); ++i) {
    bandwidth = std::max(bandwidth, log_rates[i] - log_intensities[i]);
  }
  RoofShape best;
  double least = std::numeric_limits<double>::max();
  for (const double sharpness : {1.5, 3.0, 12.0}) {
    const RoofShape found = refine({peak, bandwidth, sharpness}, rungs, corner);
    double loss = 0.0;
    for (const double residual : residuals_of(found, rungs)) {
      const double part = robust(residual, corner).value;
      loss += part * part;
    }
    if (!(loss < least)) continue;
    least = loss;
    best = found;
  }
  return best;
}

/// The best of several starts; the corner follows from the residuals' spread.
RoofShape solve(const Rungs& rungs, double& corner) {
  constexpr double practically_quadratic = 10.0;  // in logarithms: a factor of 22000
  constexpr double least_corner = 0.005;
  constexpr double sigma_per_mad = 1.4826;
  constexpr double huber_tuning = 1.345;
  constexpr int passes = 4;  // a stray rung inflates the first spread; later passes shed it
  corner = practically_quadratic;
  RoofShape shape = best_of_starts(rungs, corner);
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<double> sizes = residuals_of(shape, rungs);
    for (double& size : sizes) size = std::abs(size);
    corner = std::max(least_corner, huber_tuning * sigma_per_mad * *median(sizes));
    shape = best_of_starts(rungs, corner);
  }
  return shape;
}

/// Refits with every rung's logarithm from `redrawn(rung, random)`.
template <class Redrawn>
std::vector<RoofShape> resample(std::span<const double> log_intensities,
                                const RoofShape& shape,
                                double corner,
                                Redrawn redrawn) {
  constexpr int resamples = 200;
  std::mt19937_64 random(1);
  std::vector<RoofShape> draws;
  std::vector<double> log_rates(log_intensities.size());
  for (int i = 0; i < resamples; ++i) {
    for (std::size_t j = 0; j < log_rates.size(); ++j) log_rates[j] = redrawn(j, random);
    draws.push_back(refine(shape, {log_intensities, log_rates}, corner));
  }
  return draws;
}

/// The fit and bootstrap draws of it.
struct Fitted {
  RoofShape shape;
  std::vector<RoofShape> noise;
  std::vector<RoofShape> misfit;
  std::size_t samples;

  /// exp(log_value) of the shape.
  template <class T, class LogValue>
  Estimate<T> estimate(LogValue log_value) const {
    const auto interval_of = [&](const std::vector<RoofShape>& draws) {
      return percentile_interval(mapped(draws, log_value));
    };
    // With the value itself: a percentile interval of a parameter at its bound can miss it.
    const double value = log_value(shape);
    const auto interval =
        hull(hull(interval_of(noise), interval_of(misfit)), Interval<double>{value, value});
    const Estimate<double> logs{value, interval, samples};
    return transform(logs, [](double log) { return T(std::exp(log)); });
  }
};

/// Why P or B would be an extrapolation; empty when the ladder reaches both sides of the ridge.
std::string missing_side(std::span<const double> log_intensities, const RoofShape& shape) {
  const double clear = std::log(1.5);
  const double ridge = shape.log_peak - shape.log_bandwidth;
  const auto [least, most] = std::ranges::minmax(log_intensities);
  if (least > ridge - clear) return "no rung is limited by memory";
  if (most < ridge + clear) return "no rung is limited by compute";
  return "";
}

std::string describe_sharpness(const Estimate<double>& sharpness) {
  // From half the cap on the corner is within 2 % of a perfect one.
  if (!sharpness.interval || sharpness.interval->high < 0.5 * largest_sharpness) return "";
  return fmt::format(
      "at least {:.2g}; not identifiable beyond: too few rungs at the corner to distinguish it "
      "from a perfect one",
      sharpness.interval->low);
}
}  // namespace

Outcome<SoftRoof> fit_soft_roof(std::span<const RoofSample> rungs) {
  constexpr std::size_t least_rungs = 5;
  if (rungs.size() < least_rungs) {
    return Skipped{fmt::format("{} rungs, needs {}", rungs.size(), least_rungs)};
  }
  SoftRoof roof;
  std::vector<double> log_intensities;
  std::vector<double> log_rates;
  std::vector<MedianResampler> resamplers;
  std::size_t samples = 0;
  for (const auto& [intensity, rates] : rungs) {
    roof.points.push_back({intensity, as<FlopPerSecond>(series_estimate(rates))});
    resamplers.emplace_back(rates);
    log_intensities.push_back(std::log(intensity.value()));
    log_rates.push_back(std::log(resamplers.back().median()));
    samples += rates.size();
  }
  const Rungs measured{log_intensities, log_rates};
  double corner = 0.0;
  const RoofShape shape = solve(measured, corner);
  std::string reason = missing_side(log_intensities, shape);
  if (!reason.empty()) return Skipped{std::move(reason)};

  std::vector<double> residuals = residuals_of(shape, measured);
  std::vector<double> sizes;
  for (double& residual : residuals) {
    sizes.push_back(std::abs(std::expm1(residual)));
    const auto n = static_cast<double>(residuals.size());
    residual *= std::sqrt(n / (n - 3.0));  // widened for the three fitted parameters
  }
  std::uniform_int_distribution<std::size_t> pick(0, residuals.size() - 1);
  Fitted fitted{shape, {}, {}, samples};
  fitted.noise = resample(log_intensities, shape, corner, [&](std::size_t i, auto& random) {
    return std::log(resamplers[i].draw(random));
  });
  fitted.misfit = resample(log_intensities, shape, corner, [&](std::size_t i, auto& random) {
    return log_rate(shape, log_intensities[i]) + residuals[pick(random)];
  });
  roof.peak = fitted.estimate<FlopPerSecond>([](const RoofShape& at) { return at.log_peak; });
  roof.bandwidth =
      fitted.estimate<BytesPerSecond>([](const RoofShape& at) { return at.log_bandwidth; });
  roof.sharpness =
      fitted.estimate<double>([](const RoofShape& at) { return std::log(at.sharpness); });
  roof.sharpness_note = describe_sharpness(roof.sharpness);
  roof.ridge = fitted.estimate<FlopPerByte>(
      [](const RoofShape& at) { return at.log_peak - at.log_bandwidth; });
  roof.median_residual = *median(sizes);
  return roof;
}
}  // namespace scaleworth::model
