// SPDX-License-Identifier: Apache-2.0
/// Contention-coherency (USL) law of times, profile intervals.
#pragma once

#include "src/core/finding.h"
#include "src/model/cost.h"
#include "src/model/laws/linear_law.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace scaleworth::model {
//   E(K) = 1 / (1 + s (K-1) + c K (K-1)),   T(K) / T1 = s + (1-s)/K + c (K-1)   at constant work

/// T(K) / T1 at constant work. `serial` in [0, 1], `coherency` >= 0, `count` >= 1.
/// Source: N. Gunther, Guerrilla Capacity Planning (2007), chapter 6.
double relative_time(double serial, double coherency, double count);

std::size_t different_counts(const std::vector<TimePoint>& points);
int largest_count(const std::vector<TimePoint>& points);
/// From so many different counts on there are intervals: one more than parameters.
inline constexpr std::size_t minimum_counts = 4;

struct ContentionFit {
  double single = 0.0;  // T1, s
  double serial = 0.0;
  double coherency = 0.0;
  double residual = 0.0;  // root mean square of the relative residuals

  /// Of the same work, s.
  double time(double count) const { return single * relative_time(serial, coherency, count); }
};
inline constexpr std::array law_terms{terms::ideal, terms::level, terms::linear};
inline constexpr std::size_t law_parameters = law_terms.size();

/// The count with the least time by the law, at sqrt((1 - s) / c), where that is below `largest`;
/// absent where the search would end before it.
std::optional<int> fastest_by(const ContentionFit& fit, int largest);

/// The fit's coefficients (T1 (1-s), T1 s, T1 c).
Vector3 law_vector(const ContentionFit& fit);

/// Minimises sum_i ((T(K_i) - time_i) / time_i)^2 over T1 > 0, 0 <= s <= 1, c >= 0: linear least
/// squares in (T1 (1-s), T1 s, T1 c) >= 0 on the columns 1/K, 1, K-1. T1 is free, not pinned to
/// the row K = 1. Absent for fewer than three different counts. Throws UserError for a time that
/// is not positive.
std::optional<ContentionFit> fit_contention(const std::vector<TimePoint>& points);

struct ContentionEstimate {
  ContentionFit best;
  std::vector<ContentionFit> draws;
  /// Share of the loss at the largest count that s, rather than c, explains, s / (s + c K): central
  /// 95 % of the draws.
  Interval<double> serial_share;
  bool noise_measured = false;  // from repetitions; otherwise from the residuals
};

/// Parametric bootstrap by `add_draws` with the noise by `law_noise`. Absent for fewer than four
/// different counts.
std::optional<ContentionEstimate> estimate_contention(const std::vector<TimePoint>& points,
                                                      std::uint64_t seed = 1);

/// A law in K, or a prediction from measured parts: step time at any count.
struct CurvePoint {
  int ranks = 1;
  Estimate<Seconds> step;
  Estimate<double> efficiency;
  std::optional<Dollars> cost_per_million_tokens;
  bool extrapolated = false;
  /// Step at half the ranks over this one, by the same draws; absent at odd counts.
  std::optional<Estimate<double>> doubling{};
};

struct ScalingLaw {
  std::string name;  // "contention-coherency" (E = 1/(1 + s(K-1) + cK(K-1))), "measured parts"
  bool prediction = false;     // true: computed from measured parts, not fitted to the counts
  std::vector<Finding> basis;  // from what, under which assumptions
  std::optional<Estimate<double>> serial;     // s
  std::optional<Estimate<double>> coherency;  // c
  std::optional<Finding> not_identifiable;    // why s and c cannot be separated; then both absent
  std::optional<int> next_count;              // the count to measure next, when not identifiable
  std::optional<Estimate<Seconds>> single;    // step time at one rank, as fitted
  double residual = 0.0;                      // root mean square, relative, at the measured counts
  bool reproduces_measured = true;            // at each measured count the 95 % intervals overlap
  /// Counts 1 to max_count; of a fit by all laws that hold, weighted. Empty below four counts.
  std::vector<CurvePoint> curve;
  /// Count with the least predicted step time; an optimum only where the search did not end there.
  std::optional<int> fastest;
  std::optional<int> cost_optimal;  // K*
  std::optional<Interval<int>> cost_optimal_range;
  /// What K* costs more than the best count of each draw, in the mean over the draws; of the same
  /// work.
  std::optional<Dollars> expected_regret;

  /// `count` where it lies inside the curve: at its end the search ended, and nothing else.
  std::optional<int> inside(std::optional<int> count) const {
    return curve.empty() || (count && *count < curve.back().ranks) ? count : std::nullopt;
  }
};

// A scaling curve from draws of its step time.

/// How the work of a step grows with the count: not at all (strong), or in proportion (weak).
struct WorkPlan {
  bool weak = false;
  int baseline_ranks = 1;
  double baseline_tokens = 0.0;
  /// Work of a step at `ranks`, in steps of the baseline.
  double factor(int ranks) const { return weak ? 1.0 * ranks / baseline_ranks : 1.0; }
  double tokens(int ranks) const { return baseline_tokens * factor(ranks); }
};

struct CurveRequest {
  WorkPlan work;
  int max_count = 64;
  int smallest_measured = 1;
  int largest_measured = 1;
  std::optional<Prices> prices;
  std::string currency = "USD";  // of the prices
  WallTime wall{};               // of fastest, costs and K*
};

/// Seconds that the baseline's work takes at 1, 2, ... max_count ranks: the best estimate, and
/// draws from the joint distribution of the inputs.
struct CurveDraws {
  std::vector<double> best;
  std::vector<std::vector<double>> draws;
};

/// Fills curve, fastest (most work per second), cost_optimal and its range: the 95 % of the draws'
/// optima together with every count within 1 % of the least cost. Intervals are the 2.5 % and 97.5
/// % quantiles of the draws (absent below 20 draws); efficiency is per draw, against the same
/// draw's one rank.
void fill_curve(ScalingLaw& law, const CurveDraws& draws, const CurveRequest& request);

/// The law of `points` and of `estimate`, which is theirs, with intervals (of T1, s and c by
/// profile likelihood, of the curve and K* from the draws) and its curve. `not_identifiable` gives
/// the reason when there are fewer than four counts, or when the 95 % interval of `serial_share` is
/// wider than 0.8: either parameter could explain nearly all of the loss, and K* would be
/// guesswork. `next_count` is then that of `next_measurement`; below four counts only where prices
/// ask for a count, else twice the largest.
ScalingLaw contention_law(const std::vector<TimePoint>& points,
                          const std::optional<ContentionEstimate>& estimate,
                          const CurveDraws& curve,
                          const CurveRequest& request);

/// 95 % intervals by profile likelihood: every value whose best fit is not worse than the free one
/// by more than F(1, n - 3) at 5 % allows (with the spread of repetitions: by that variance). A
/// value of s or c, like the counts below, is a linear hypothesis on (T1 (1-s), T1 s, T1 c), so
/// that the coverage is exact for normal relative noise away from the bounds (Fieller 1954), and
/// the intervals are as skewed as they must be.
struct ContentionIntervals {
  Interval<double> single;  // s
  Interval<double> serial;
  std::optional<Interval<double>> coherency;  // absent: no upper end
};
/// Absent for fewer than four different counts: nothing is left to say how far the fit may be off.
std::optional<ContentionIntervals> profile_intervals(const std::vector<TimePoint>& points,
                                                     const ContentionFit& fit);

/// A count beyond what can be bought.
inline constexpr double farthest_count = 1e7;
}  // namespace scaleworth::model
