// SPDX-License-Identifier: Apache-2.0
/// How surely one more run meets a deadline, at the count that was measured and, by the fitted law,
/// at counts that were not: a reason to measure them, no verdict.
#pragma once

#include "src/model/decide/choice/rubric.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// One count by the law, for the work of the baseline.
struct PredictedCount {
  int count = 1;
  Seconds expected;      // by the best fit
  Seconds upper;         // one run takes no longer with the deadline's probability
  double in_time = 0.0;  // probability that one run meets the deadline
  std::optional<Dollars> expected_cost;
  std::optional<Dollars> upper_cost;
  bool beyond = false;  // larger than every measured count
};

struct DeadlineForecast {
  model::Deadline deadline;
  std::optional<int> measured;             // cheapest row that meets it and passes the same gates
  std::optional<double> measured_in_time;  // probability that one more run there does, too
  /// Relative standard deviation of one run; absent without repeats and law.
  std::optional<double> noise;
  bool noise_measured = false;  // of repeats; otherwise with what the law misses the rows by
  std::string not_told;         // why no law tells more: then there is nothing below
  int from = 1;                 // the counts that were looked at, multiples of `step`
  int to = 1;
  int step = 1;
  std::optional<PredictedCount> cheapest;  // that was not measured, meets it and passes
  PredictedCount fastest;                  // by the best fit, of those looked at
  /// No count meets the deadline more probably than this, however many there were.
  double in_time_anywhere = 0.0;
  std::optional<double> peak;  // count of least time by the best fit; absent: none
  Seconds least;               // that time, or what time tends to
};

/// What the forecast stands on.
struct ForecastBasis {
  const std::vector<DecisionRow>& rows;
  std::optional<model::ContentionEstimate> estimate;  // where the law is told
  std::string not_told;                               // why not, where it is absent
  std::optional<model::Prices> prices;
};

/// Counts from the smallest measured one to `model::farthest_extrapolation` times the largest, in
/// multiples of the greatest common divisor of the measured ones; of more than `most_forecasts` of
/// them as many, evenly spread in log K. One run takes T(K) (1 + sd t): T over the draws of the
/// fit, sd of one run from the repeats' pooled spread (and what the law misses the rows by, where
/// that exceeds it or there are no repeats), t Student's on the degrees of freedom of that sd. The
/// cheapest is by expected cost, without prices by ranks x time; the rubric's efficiency threshold
/// and budget hold for it, other gates cannot be predicted. `in_time_anywhere` gives each draw its
/// own best count. `measured_in_time` is that of T (1 + sd sqrt(1 + 1/n) t) for n runs with median
/// T. Absent without a deadline and for rows of a load, which nobody buys.
std::optional<DeadlineForecast> forecast_deadline(const ForecastBasis& basis, const Rubric& rubric);
inline constexpr std::size_t most_forecasts = 512;

}  // namespace scaleworth::decide
