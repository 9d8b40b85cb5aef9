// SPDX-License-Identifier: Apache-2.0
/// When sampling ends; drift, bimodality, contention, noise.
#pragma once

#include "src/core/finding.h"
#include "src/core/units.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth {
inline constexpr std::size_t fewest_samples = 6;  // with an interval of their median

struct StoppingTarget {
  /// Half-width of the 95 % interval of the median (`series_estimate`), relative to the median.
  double relative_half_width = 0.01;
  /// `fewest_samples` are enough once the time budget is spent.
  std::size_t minimum_samples = 20;
  std::size_t maximum_samples = 1000;
  /// Time spent in samples (their sum), not wall time.
  Seconds time_budget{1.0};
};

/// Feed one duration per sample; stop as soon as `finished()`. A width that is looked at after each
/// sample is small by chance sooner or later, so it decides at the minimum and each time the count
/// has doubled only, and from 15 effective samples on: fewer often hide their autocorrelation.
class StoppingRule {
 public:
  enum class Reason { running, converged, maximum_samples, time_budget };

  explicit StoppingRule(StoppingTarget target) : target_(target) {}
  /// `sample` must be finite and positive, else ProbeFailure (a clock that stands still, a NaN).
  /// `spent` is the time that it took to get, more than the value for a batch of operations.
  void add(Seconds sample, Seconds spent);
  void add(Seconds sample) { add(sample, sample); }
  bool finished() const { return reason_ != Reason::running; }
  Reason reason() const { return reason_; }
  /// Why it is finished, and what is known of the median then.
  Finding explanation() const;
  const std::vector<double>& samples() const { return samples_; }

 private:
  StoppingTarget target_;
  Reason reason_ = Reason::running;
  std::vector<double> samples_;
  Seconds spent_{};
};

inline constexpr std::size_t least_samples_for_warnings = 12;  // below, neither test has power
inline constexpr double least_effect = 0.02;                   // a share of the median

/// Do the samples rise or fall in the order taken (a clock that throttles, a machine that warms
/// up)? Warns when Mann & Kendall's test rejects "no trend" at p < 0.01 (normal approximation with
/// ties) and the Theil-Sen slope adds up to at least `least_effect` of the median over the series.
/// The variance is that of independent samples times n / effective samples of what the slope leaves
/// (Yue & Wang, Water Resources Management 18, 2004): a wandering clock is no trend.
/// More than 512 samples are first reduced to 512 block medians. Positive finite samples.
/// Source: Gilbert, Statistical Methods for Environmental Pollution Monitoring (1987), chapter 16.
std::optional<Finding> drift_warning(std::span<const double> samples);

/// Do the samples fall into two groups (two frequencies, two paths through a library), so that the
/// median describes neither? The split into two that minimises the squares within them, each with
/// 3 samples and 10 % at least, is taken for two modes when Ashman's
/// D = |m1 - m2| / sqrt((s1^2 + s2^2) / 2) reaches 6 (the split of a normal reaches 2.7, of a
/// uniform 3.5) and their means are `least_effect` of the median apart.
/// Source: Ashman, Bird & Zepf, Astronomical Journal 108, 1994.
std::optional<Finding> bimodality_warning(std::span<const double> samples);

/// All of these that apply.
std::vector<Finding> sample_warnings(std::span<const double> samples);

/// Noise of a curve of logarithms: the lower quartile of its first differences (which a few steps
/// do not reach) or of its second (which straight ramps do not reach), whichever is smaller, scaled
/// to sigma of a normal. 0 below four points. Assumes independent errors of similar size at all
/// points.
double curve_noise(std::span<const double> logs);
}  // namespace scaleworth
