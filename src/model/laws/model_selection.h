// SPDX-License-Identifier: Apache-2.0
/// Families of laws, and the forecast by all that hold, weighted.
#pragma once

#include "src/model/decision/scaling_row.h"
#include "src/model/laws/contention_law.h"

#include <cstdint>
#include <optional>
#include <span>

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
  double odds = 1.0;             // before a row is seen, over those of other laws
  std::vector<LawTerm> terms{};  // where the law is a sum of terms that are fitted
};

/// Fewest terms first. The power loss K T(K) = a K^b is by least squares of the logarithms with
/// 0 <= b <= 2.
std::vector<LawFamily> law_families();

/// The step of a fixed layout, T = a m + b with m micro-batches, as a law of the count: m = M / K
/// where the batch is fixed, else m is fixed and the work grows with the count.
LawFamily micro_batch_family(bool fixed_batch);

/// T(K) = a/K + b + `communication`(K), the part that is known from elsewhere.
LawFamily informed_family(TimeAt communication);

inline constexpr const char* constant_efficiency_family = "constant efficiency";
inline constexpr const char* amdahl_family = "Amdahl";
inline constexpr const char* logarithmic_family = "logarithmic loss";

/// A law in a forecast by all laws, and how it did on counts that it was not fitted to.
struct WeightedLaw {
  LawFamily family;
  FittedLaw fitted;                  // to all points
  double weight = 0.0;               // all weights add up to 1
  double residual = 0.0;             // root mean square, relative, at all points
  std::optional<double> held_out{};  // mean |relative error| one count ahead
  /// Of the forecasts from the fifth count on, the largest max(predicted / measured, measured /
  /// predicted) - 1: a time that is far too long must not look small because it divides.
  std::optional<double> worst{};
};

/// The worst forecast decides, for a cliff at the end hides in a mean.
inline constexpr double cliff_error = 0.25;

/// Seconds of the same work at any count, by all laws that the measured counts allow. No single law
/// is known to be the true one: each draw is one law, fitted to redrawn times, times an error that
/// grows with the distance.
struct CombinedLaw {
  std::vector<WeightedLaw> laws;  // greatest weight first
  std::vector<TimeAt> draws;
  /// Standard deviation of ln T for each doubling beyond the largest measured count: of the
  /// forecasts of measured counts from the smaller ones.
  double error_per_doubling = 0.0;
  double noise = 0.0;                // relative standard deviation of a row
  double noise_degrees = 1.0;        // of freedom of `noise`
  std::optional<int> outlier{};      // count of a row that was left out of the fits
  std::optional<double> held_out{};  // mean |relative error| one count ahead, combined
  std::size_t forecasts = 0;         // that it is a mean of
  /// Of the forecasts from the fifth count on, the largest miss of the law that is nearest there,
  /// and that law.
  double worst = 0.0;
  std::string nearest;
  bool weak = false;  // by the odds of weak scaling

  double time(double count) const;                // weighted geometric mean, s
  std::vector<double> times(double count) const;  // by draw, s
  /// 2.5 % and 97.5 % quantiles of the draws.
  Interval<double> interval(double count) const;
  /// A change of regime lies inside the table: every law that held up to a count, with 1 % of the
  /// weight there, misses the next by more than `cliff_error`.
  bool cliff() const { return worst > cliff_error; }
  /// With their weights those of 5 % and more, then the others together.
  std::vector<Finding> names() const;
};

/// Laws held against published tables miss by a multiple beyond so many times the measured range.
inline constexpr double farthest_extrapolation = 4.0;

/// Weights by the marginal likelihood of each law, with its parameters charged as by Schwarz
/// (Annals of Statistics 6, 1978) and the variance of the rows integrated out:
///   ln w = -(v + n)/2 ln(v s^2 + sum of squared relative residuals) - 5/8 p ln(n + 1)
/// s, v: spread of repetitions and its degrees of freedom (at most n), without repetitions 1 %
/// with one degree, so that two or three rows cannot prove a bend that is within their noise.
/// Before a row is seen constant efficiency has ten times the weight of any other law, for most
/// published training series nearly keep it; Amdahl's law (strong scaling leaves a part that does
/// not shrink) or, for weak scaling, the logarithmic loss (trees and stragglers) five times; laws
/// of three parameters a fifth. The draws, and with them every interval, take all laws with equal
/// odds: a band must also hold for a curve that is not the usual one. A row between the first and
/// the last that takes longer than the best law of all others says, by more than 10 % and five
/// times what it misses those by, is left out, from five counts on. `known`: the only laws, where
/// the form is known; else all of `law_families`, of more than three parameters from 2 p + 1 counts
/// on, and `further` ones. Long series are thinned evenly to 200 counts. Absent for fewer than two
/// counts. Throws UserError for a time that is not positive.
std::optional<CombinedLaw> combine_laws(std::vector<TimePoint> points,
                                        bool weak = false,
                                        const std::vector<LawFamily>& further = {},
                                        const std::vector<LawFamily>& known = {},
                                        std::uint64_t seed = 1);

/// By best estimate and by draw, for `fill_curve`.
CurveDraws curve_draws(const CombinedLaw& law, int max_count);

/// Time of one all-reduce of so many bytes over so many ranks; absent when it is not known.
using AllReduceTime = std::function<std::optional<Estimate<Seconds>>(Bytes, int)>;

/// A prediction from the measured parts of a step, where the counts are too few for a law:
/// T(K) = compute(b, K) + constant + progress(K) + transfer(K) + wait(K), b tokens per rank:
///   compute   (c0 + c1 b) from counts of different b (relative, c0, c1 >= 0); where all counts
///             have the same b, c1 b times the slow-down of the largest count for every K > K0
///   constant  optimizer, host and unattributed time: mean over the counts, not sharded
///   progress  as at the largest count, in proportion to the ring's traffic 2 (K-1)/K
///   transfer  max(floor, full(K) - w compute(K)): full the all-reduce model's time of all buckets
///             (stretched where more was exposed at the largest count), w compute the window that
///             hides it, w from what was hidden at the largest count; floor the least share of full
///             that was exposed at any. Where nothing but the last bucket was exposed, w is the
///             least window, and the draws reach up to all of the compute. Without a model, the
///             exposed time in proportion to 2 (K-1)/K
///   wait      E[max of K] - mu of K normal ranks, its sigma a constant fraction of compute that
///             gives the wait measured at the largest count
/// The curve by these parts over 1 to max_count ranks, or to the last whose all-reduce the model
/// knows, `prediction` set, its assumptions in `basis`. The range is a Monte-Carlo over steps
/// resampled at each count and over the all-reduce model's intervals; it holds the uncertainty of
/// the inputs, not of the assumptions.
/// `not_identifiable` says why there is no curve: no ledger, or one rank and no all-reduce model.
ScalingLaw measured_parts_law(const MeasuredMode& mode,
                              const AllReduceTime& all_reduce,
                              const CurveRequest& request);

struct ForecastPoint {
  int count = 1;
  Estimate<Seconds> time;  // of the same work
  double speedup = 1.0;    // against the rows' baseline
  double efficiency = 1.0;
  bool far = false;  // beyond `farthest_extrapolation` times the largest measured count
};

/// What the laws say of counts that were not measured.
struct LawForecast {
  std::optional<Finding> basis;       // the laws and their weights, or why there is no point
  std::vector<ForecastPoint> points;  // ascending; none at a cliff
};

/// At twice, four and eight times the largest count and at `asked` ones. Absent without `law`.
/// Throws UserError for an asked count below 1.
std::optional<LawForecast> law_forecast(const std::vector<DecisionRow>& rows,
                                        const std::optional<CombinedLaw>& law,
                                        const std::vector<int>& asked);
}  // namespace scaleworth::model
