// SPDX-License-Identifier: Apache-2.0
/// Order statistics of a sample: median, quantiles, median absolute deviation.
#pragma once

#include <optional>
#include <span>

namespace scaleworth {

/// Quantile by linear interpolation between order statistics (type 7 of Hyndman & Fan 1996).
/// Absent for no samples; the sample itself for one. `p` in [0, 1]. Samples must be finite.
std::optional<double> quantile(std::span<const double> samples, double p);

/// quantile(samples, 0.5).
std::optional<double> median(std::span<const double> samples);

/// Median absolute deviation from the median, unscaled (times 1.4826 it estimates sigma of a
/// normal). 0 for one sample or equal samples.
std::optional<double> median_absolute_deviation(std::span<const double> samples);

}  // namespace scaleworth
