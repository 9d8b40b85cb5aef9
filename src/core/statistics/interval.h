// SPDX-License-Identifier: Apache-2.0
/// Confidence intervals that assume no distribution.
#pragma once

#include "src/core/estimate.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace scaleworth {

/// Distribution-free interval of the median from two order statistics: [x(r), x(n+1-r)] with the
/// largest r whose coverage 1 - 2 P(Binomial(n, 1/2) < r) reaches `confidence`.
/// Absent when even [min, max] does not reach it (n < 6 at 95 %). Assumes independent samples.
/// Source: David & Nagaraja, Order Statistics, 3rd ed., section 7.1.
std::optional<Interval<double>> median_interval(std::span<const double> samples,
                                                double confidence = 0.95);

/// Median with its order-statistic 95 % interval. Throws std::invalid_argument for no samples.
Estimate<double> median_estimate(std::span<const double> samples);

/// Percentile bootstrap: the statistic's quantiles over `resamples` resamplings with replacement.
/// Absent for fewer than two samples. Deterministic in `seed`. A resample for which the statistic
/// is absent is left out; absent when fewer than half remain.
std::optional<Interval<double>> bootstrap_interval(
    std::span<const double> samples,
    const std::function<std::optional<double>(std::span<const double>)>& statistic,
    double confidence = 0.95,
    int resamples = 1000,
    std::uint64_t seed = 1);

}  // namespace scaleworth
