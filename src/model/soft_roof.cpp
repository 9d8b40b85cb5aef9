// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/sample_statistics.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {
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

Draws resample_samples(const Ladder& ladder,
                       const RoofShape& shape,
                       double corner,
                       const SoftRoofOptions& options) {
  std::mt19937_64 random(options.seed);
  Draws draws;
  std::vector<double> log_rates(ladder.log_rates.size());
  for (int i = 0; i < options.resamples; ++i) {
    for (std::size_t j = 0; j < log_rates.size(); ++j) {
      log_rates[j] = std::log(ladder.resamplers[j].draw(random));
    }
    draws.add(refine(shape, ladder.log_intensities, log_rates, corner));
  }
  return draws;
}

Draws resample_residuals(const Ladder& ladder,
                         const RoofShape& shape,
                         double corner,
                         const SoftRoofOptions& options) {
  const std::vector<double> residuals = widened_residuals(ladder, shape);
  std::mt19937_64 random(options.seed);
  std::uniform_int_distribution<std::size_t> pick(0, residuals.size() - 1);
  Draws draws;
  std::vector<double> log_rates(residuals.size());
  for (int i = 0; i < options.resamples; ++i) {
    for (std::size_t j = 0; j < log_rates.size(); ++j) {
      log_rates[j] = log_rate(shape, ladder.log_intensities[j]) + residuals[pick(random)];
    }
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

Outcome<SoftRoof> fit_soft_roof(std::span<const RoofSample> rungs, const SoftRoofOptions& options) {
  constexpr std::size_t least_rungs = 5;
  if (rungs.size() < least_rungs) {
    return Skipped{fmt::format("{} rungs, needs {}", rungs.size(), least_rungs)};
  }
  const Ladder ladder = logarithms(rungs);
  double corner = 0.0;
  const RoofShape shape = solve(ladder.log_intensities, ladder.log_rates, corner);
  if (std::string reason = missing_side(ladder, shape); !reason.empty()) return Skipped{reason};

  const Draws noise = resample_samples(ladder, shape, corner, options);
  const Draws misfit = resample_residuals(ladder, shape, corner, options);
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
