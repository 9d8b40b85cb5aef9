// SPDX-License-Identifier: Apache-2.0
/// The contention-coherency law (USL) fitted to step times at several counts.
///   E(K) = 1 / (1 + s (K-1) + c K (K-1)),   T(K) / T1 = s + (1-s)/K + c (K-1)   at constant work
#pragma once

#include "src/model/scaling/curve.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// T(K) / T1 at constant work. `serial` in [0, 1], `coherency` >= 0, `ranks` >= 1.
/// Source: N. Gunther, Guerrilla Capacity Planning (2007), chapter 6.
double relative_time(double serial, double coherency, int ranks);

/// E(K) = T1 / (K T(K)).
double contention_efficiency(double serial, double coherency, int ranks);

/// The time that constant work takes at one count. `relative_sd` is the standard deviation of
/// `time` (of a median: not of one repetition) over itself where repetitions show it.
struct LawPoint {
  int ranks = 1;
  double time = 0.0;  // s
  std::optional<double> relative_sd;
  std::size_t repeats = 0;  // that `relative_sd` is from; 0: enough
};

std::size_t different_counts(const std::vector<LawPoint>& points);
/// From so many different counts on there are intervals: one more than parameters.
inline constexpr std::size_t minimum_counts = 4;

struct ContentionFit {
  double single = 0.0;  // T1, s
  double serial = 0.0;
  double coherency = 0.0;
  double residual = 0.0;  // root mean square of the relative residuals
};

/// Minimises sum_i ((T(K_i) - time_i) / time_i)^2 over T1 > 0, 0 <= s <= 1, c >= 0: linear least
/// squares in (T1 (1-s), T1 s, T1 c) >= 0 on the columns 1/K, 1, K-1. T1 is free, not pinned to
/// the row K = 1. Absent for fewer than three different counts. Throws UserError for a time that
/// is not positive.
std::optional<ContentionFit> fit_contention(const std::vector<LawPoint>& points);

/// The fit with draws from its uncertainty.
struct ContentionEstimate {
  ContentionFit best;
  std::vector<ContentionFit> draws;
  Interval<double> serial;  // quantiles of the draws, as is the next
  Interval<double> coherency;
  /// Share of the loss at the largest count that s, rather than c, explains: s / (s + c K).
  Interval<double> serial_share;
  double correlation = 0.0;     // of s and c over the draws
  bool noise_measured = false;  // from repetitions; otherwise from the residuals
};

/// Parametric bootstrap, 95 %: each time is redrawn as time * (1 + sd z) and refitted with the same
/// bounds. sd is the measured one, unless the residuals exceed it (chi-squared, 5 %) or it is
/// unknown: then the residual standard deviation on n - 3 degrees of freedom, with Student's
/// heavier tails. Absent for fewer than four different counts.
std::optional<ContentionEstimate> estimate_contention(const std::vector<LawPoint>& points,
                                                      std::uint64_t seed = 1,
                                                      int draws = 400);

/// The law with intervals (of T1, s and c by profile likelihood, of the curve and K* from the
/// draws) and its curve. `not_identifiable` gives the reason when there are fewer than four counts,
/// or when the 95 % interval of `serial_share` is wider than 0.8: either parameter could explain
/// nearly all of the loss, and K* would be guesswork. `next_count` is then that of
/// `next_measurement`; below four counts only where prices ask for a count, else twice the largest.
ScalingLaw contention_law(const std::vector<LawPoint>& points, const CurveRequest& request);
/// The same from `estimate`, which is that of `points`.
ScalingLaw contention_law(const std::vector<LawPoint>& points,
                          const std::optional<ContentionEstimate>& estimate,
                          const CurveRequest& request);

}  // namespace scaleworth::model
