// SPDX-License-Identifier: Apache-2.0
/// Doubts about a series of samples that a median and its interval would hide.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth {

/// Below this many samples nothing is said: neither test has power.
inline constexpr std::size_t least_samples_for_warnings = 12;
/// Effects smaller than this share of the median are not worth a warning.
inline constexpr double least_effect = 0.02;

/// Do the samples rise or fall in the order taken (a clock that throttles, a machine that warms
/// up)? Warns when Mann & Kendall's test rejects "no trend" at p < 0.01 (normal approximation with
/// ties) and the Theil-Sen slope adds up to at least `least_effect` of the median over the series.
/// More than 512 samples are first reduced to 512 block medians. Positive finite samples.
/// Source: Gilbert, Statistical Methods for Environmental Pollution Monitoring (1987), chapter 16.
std::optional<std::string> drift_warning(std::span<const double> samples);

/// Do the samples fall into two groups (two frequencies, two paths through a library), so that the
/// median describes neither? The split into two that minimises the squares within them, each with
/// 3 samples and 10 % at least, is taken for two modes when Ashman's
/// D = |m1 - m2| / sqrt((s1^2 + s2^2) / 2) reaches 6 (the split of a normal reaches 2.7, of a
/// uniform 3.5) and their means are `least_effect` of the median apart.
/// Source: Ashman, Bird & Zepf, Astronomical Journal 108, 1994.
std::optional<std::string> bimodality_warning(std::span<const double> samples);

/// All of the above that apply.
std::vector<std::string> sample_warnings(std::span<const double> samples);

}  // namespace scaleworth
