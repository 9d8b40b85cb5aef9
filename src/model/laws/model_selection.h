// SPDX-License-Identifier: Apache-2.0
/// Held-out comparison of law families, forecast beyond the range.
#pragma once

#include "src/model/decision/scaling_row.h"
#include "src/model/laws/contention_law.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::model {
struct FittedLaw {
  std::vector<double> coefficients;  // in the order of the family's formula; s
  TimeAt time;
};

/// A law of the time of the same work against the count, as a way to fit it.
struct LawFamily {
  std::string name;
  std::string formula;         // of T(K)
  std::size_t parameters = 1;  // to be fitted, exponents among them
  /// By least relative squares, coefficients >= 0. At least one point, ascending.
  std::function<FittedLaw(std::span<const TimePoint>)> fit;
};

/// Fewest terms first. The power loss K T(K) = a K^b is by least squares of the logarithms with
/// 0 <= b <= 2.
std::vector<LawFamily> law_families();

/// The performance-model normal form of one parameter, for curves whose shape is not known:
/// K T(K) = a + b K^i log2(K)^j, a and b >= 0, with the pair (i, j) out of 42 that predicts best
/// with each point left out once (symmetric mean absolute percentage error), or b = 0 where no term
/// does. Coefficients a, b, i, j. K T rather than T, for the terms only grow: a time that falls and
/// rises again is beyond the form. No term with fewer than five points, which a choice among 42
/// would meet by chance. Source: Calotoiu et al., SC 13, and the pairs of the tool Extra-P 4.2.
FittedLaw fit_normal_form(std::span<const TimePoint> points);

/// T(K) = a/K + b + `communication`(K), the part that is known from elsewhere.
LawFamily informed_family(TimeAt communication);

inline constexpr const char* amdahl_family = "Amdahl";
inline constexpr const char* logarithmic_family = "logarithmic loss";

/// A law held against counts that it was not fitted to.
struct CandidateLaw {
  std::string name;
  std::string formula;
  FittedLaw fitted;       // to all points
  double residual = 0.0;  // root mean square, relative, at all points
  double held_out = 0.0;  // mean |relative error| one count ahead
  /// Of the forecasts from the fifth count on, the largest max(predicted / measured, measured /
  /// predicted) - 1: a time that is far too long must not look small because it divides.
  double worst = 0.0;
};

struct ModelSelection {
  std::vector<CandidateLaw> laws;  // the chosen one, then least held-out error first
  std::size_t forecasts = 0;       // that each error is a mean of
  bool by_forecast = false;        // false: no law beats the first guess clearly
};

/// A chosen law that misses a count by more does not describe the table: a change of regime lies
/// inside it. The worst forecast decides, for a cliff at the end hides in a mean.
inline constexpr double cliff_error = 0.25;

/// Laws held against published tables miss by a multiple beyond so many times the measured range.
inline constexpr double farthest_extrapolation = 4.0;

/// The law chosen for one or several tables.
struct LawChoice {
  LawFamily family;
  std::optional<double> held_out;  // mean |relative error| one count ahead; absent without any
  bool by_forecast = false;        // false: the one that the kind of scaling suggests
};

/// Chooses one of `law_families` for all `series` (the same system in several variants, or one
/// table alone) by its forecasts, never by its fit: each law is fitted to the points below each
/// count and predicts the time there, from the fourth count on, at most the last twenty; long
/// series are thinned evenly to 200 counts.
///
/// Strong scaling leaves a part that does not shrink, so Amdahl's law is the first guess; weak
/// scaling pays for trees and stragglers, both growing as log K. Another law takes its place when
/// |ln(predicted / measured)| is smaller in the mean by more than one percentage point and, from
/// three forecasts on, by more than the standard error of the paired differences: with less, a few
/// counts choose by their noise. Of those laws the least mean is taken. A law of p > 2 parameters
/// competes from 2 p + 1 counts of the longest series on, and before where the choice would miss a
/// count by more than `cliff_error` and it does not: a table that a law with a minimum describes
/// has no change of regime. Where fewer than p + 1 points are known the first guess stands in for
/// it, for its forecast would be that of an arbitrary fit.
/// Throws UserError for a time that is not positive.
LawChoice choose_law(const std::vector<std::vector<TimePoint>>& series, bool weak);

/// All laws of `law_families` and of `further` ones on one table, the choice as by `choose_law`
/// first. Absent for fewer than five different counts.
std::optional<ModelSelection> select_model(std::vector<TimePoint> points,
                                           bool weak,
                                           const std::vector<LawFamily>& further = {});

/// Time of one all-reduce of so many bytes over so many ranks; absent when it is not known.
struct AllReduceTime : std::function<std::optional<Estimate<Seconds>>(Bytes, int)> {
  using function::function;
  std::string growth = {};  // how its start-up time grows with ranks
};

/// A prediction from the measured parts of a step, where the counts are too few for a law:
/// T(K) = compute(b, K) + constant + progress(K) + transfer(K) + wait(K), b tokens per rank:
///   compute   (c0 + c1 b) from counts of different b (relative, c0, c1 >= 0); where all counts
///             have the same b, c1 b times the slow-down of the largest count for every K > K0
///   constant  optimizer, host and unattributed time: mean over the counts, not sharded
///   progress  as at the largest count, in proportion to the ring's traffic 2 (K-1)/K
///   transfer  the all-reduce model's time of all buckets, times the share that was exposed at the
///             largest count; without a model, the exposed time in proportion to 2 (K-1)/K
///   wait      E[max of K] - mu = sigma sqrt(2 ln K), sigma a constant fraction of compute that
///             gives the wait measured at the largest count (normal ranks)
/// The curve by these parts over 1 to max_count ranks, `prediction` set, its assumptions in
/// `basis`. The range is a Monte-Carlo over steps resampled at each count and over the all-reduce
/// model's intervals; it holds the uncertainty of the inputs, not of the assumptions.
/// `not_identifiable` says why there is no curve: no ledger, or one rank and no all-reduce model.
ScalingLaw measured_parts_law(const MeasuredMode& mode,
                              const AllReduceTime& all_reduce,
                              const CurveRequest& request);
}  // namespace scaleworth::model

namespace scaleworth::decide {
struct ForecastPoint {
  int count = 1;
  Seconds time;          // of the same work
  double speedup = 1.0;  // against the rows' baseline
  double efficiency = 1.0;
  bool far = false;  // beyond `model::farthest_extrapolation` times the largest measured count
};

/// What the law that predicts best says of counts that were not measured.
struct LawForecast {
  std::string law;
  std::string formula;
  std::string basis;                  // how the law was chosen
  std::optional<double> held_out;     // mean |relative error| one count ahead; absent without any
  std::vector<ForecastPoint> points;  // twice, four and eight times the largest; none at a cliff
};

/// By the first law of the model selection; without one (fewer than five counts) by
/// `model::choose_law`, which for two counts is an assumption through both of them. Absent for one
/// row, and without points where the best law misses a count by more than `model::cliff_error`.
std::optional<LawForecast> law_forecast(const std::vector<DecisionRow>& rows,
                                        Scaling scaling,
                                        const std::optional<model::ModelSelection>& selection);
}  // namespace scaleworth::decide
