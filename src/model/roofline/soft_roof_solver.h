// SPDX-License-Identifier: Apache-2.0
/// The least-squares problem behind the soft roof, apart from its statistics.
#pragma once

#include <span>
#include <vector>

namespace scaleworth::model {

/// The curve in logarithms: peak in FLOP/s, bandwidth in B/s, sharpness p in [1, 64].
struct RoofShape {
  double log_peak = 0.0;
  double log_bandwidth = 0.0;
  double sharpness = 1.0;
};

/// log P(I) at log intensity.
double log_rate(const RoofShape& shape, double log_intensity);

/// Minimises sum of huber((log_rates - log P(I)) / corner), quadratic up to `corner`, from `start`.
RoofShape refine(const RoofShape& start,
                 std::span<const double> log_intensities,
                 std::span<const double> log_rates,
                 double corner);

/// The best of several starts with p = 1.5, 3 and 12; the corner follows from the residuals' spread
/// and is returned through `corner`.
RoofShape solve(std::span<const double> log_intensities,
                std::span<const double> log_rates,
                double& corner);

}  // namespace scaleworth::model
