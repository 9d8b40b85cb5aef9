// SPDX-License-Identifier: Apache-2.0
/// What the next count saves and costs, what an hour of waiting must be worth for it, the ways to
/// pay, and which count meets a deadline.
#pragma once

#include "src/core/estimate.h"
#include "src/model/cost.h"
#include "src/model/decision/choice.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/laws/model_selection.h"

#include <optional>
#include <variant>

namespace scaleworth::model {
enum class StepKind {
  free,    // saves time and money: taken before any that costs
  paid,    // saves time, costs money
  slower,  // costs time, saves money
  loss,    // costs time and money
};
constexpr auto enum_words(StepKind) {
  return std::array{Word{"free", "free"},
                    Word{"paid", "paid"},
                    Word{"slower", "slower and cheaper"},
                    Word{"loss", "slower and more expensive"}};
}

/// What going from one count to a larger one saves and costs.
struct MarginalStep {
  int from = 1;
  int to = 2;
  StepKind kind = StepKind::paid;
  double speedup_gain = 0.0;
  Seconds time_saved;
  Dollars cost_added;
  /// Only where money is spent: a ratio to money saved would rank the best steps last.
  std::optional<double> speedup_per_dollar;
  std::optional<double> dollars_per_hour_saved;  // only for `paid`
  /// Where more work reached a better quality: by how much it is better, and what the whole larger
  /// run costs more than the smaller.
  double quality_gained = 0.0;
  std::optional<Dollars> quality_cost;
};

/// Between each row and the next in `rows`; empty unless all rows have costs.
std::vector<MarginalStep> marginal_steps(const std::vector<DecisionRow>& rows);

/// The rows whose counts are the first row's times a power of two.
std::vector<DecisionRow> doublings(const std::vector<DecisionRow>& rows);

/// A count is the one to take from this value of an hour of waiting on, up to that of the next.
struct ValueOfWaiting {
  int count = 1;
  DollarsPerSecond from;
};

/// The counts that minimise C(K) + v T(K) for some v >= 0, of the same work, by rising v: the first
/// is the cheapest, from 0, the last the fastest. They are the lower convex hull of the costs over
/// the times; a count that is on it for no v is dominated by a mixture of others. `excluded` counts
/// take no part. Empty unless all rows have costs, or where none is left.
std::vector<ValueOfWaiting> value_of_waiting(const std::vector<DecisionRow>& rows,
                                             const std::vector<int>& excluded);

/// A part of the price. A commitment is paid for every hour, used or not: with a utilisation the
/// used hour costs price part / utilisation.
struct PricePart {
  double part = 1.0;
  std::optional<double> utilisation;
  bool spot = false;  // of machines that may be taken away, which a part alone leaves out
};

/// Machines that may be taken away: the costs are expected ones.
struct SpotTerms {
  DollarsPerSecond price_per_rank;
  Preemption preemption;
};

/// A way to pay for a rank; what runs with the clock or is paid once stays as it is.
struct Regime {
  std::string name;
  std::variant<PricePart, OwnedTerms, SpotTerms> terms;
};

struct RegimeResult {
  Regime regime;
  DollarsPerSecond per_rank;                  // of an hour that is used
  std::vector<std::optional<Dollars>> costs;  // row by row, of the same work; absent: no end
  std::vector<bool> in_time;                  // row by row: meets the deadline, if there is one
  std::optional<CostChoice> choice;           // absent when no count comes to an end
  /// With a deadline: the cheapest count that meets it with the probability asked for.
  std::optional<int> cheapest_in_time;
  /// Owned or committed: the utilisation from which it is cheaper than the price; above 1: never.
  std::optional<double> break_even;
  /// At its cheapest count, of expected wall time, where it is interrupted.
  std::optional<double> goodput;
  /// Row by row: the expected wall time where this way to pay is interrupted; else empty.
  std::vector<std::optional<Seconds>> expected{};

  /// Spot as a part of the price alone, as if no machine were taken away.
  bool certain_spot() const {
    const auto* const part = std::get_if<PricePart>(&regime.terms);
    return part != nullptr && part->spot;
  }
};

/// One result per regime. Without a fixed rate all but spot choose the same count, whatever they
/// cost. Throws UserError for a part, a price or a utilisation that is not positive, a utilisation
/// above 1, two regimes of one name, and what `owned_price` and `plan_spot` refuse.
std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const Prices& prices,
                                          const std::vector<Regime>& regimes,
                                          const std::optional<Deadline>& deadline = {});

/// What failures at the published rate of a GPU would take of the wall time of a long job at the
/// largest count of ranks, from 256 on; else nothing.
std::vector<Finding> failure_remarks(const std::vector<DecisionRow>& rows, Axis axis);

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

/// How probably one more run meets a deadline, at the count that was measured and, by the fitted
/// law, at counts that were not: a reason to measure them, no verdict.
struct DeadlineForecast {
  Deadline deadline;
  std::optional<int> measured;             // cheapest row that meets it and passes the same gates
  std::optional<double> measured_in_time;  // probability that one more run there does, too
  /// Relative standard deviation of one run; absent without repeats and law.
  std::optional<double> noise;
  bool noise_measured = false;         // of repeats; otherwise what the laws miss the rows by
  std::optional<Finding> unavailable;  // why no law gives more: then there is nothing below
  int from = 1;                        // the counts that were looked at, multiples of `step`
  int to = 1;
  int step = 1;
  std::optional<PredictedCount> cheapest;  // that was not measured, meets it and passes
  PredictedCount fastest;                  // by the best fit, of those looked at
  /// No count looked at meets the deadline more probably than this.
  double in_time_anywhere = 0.0;
};

/// `laws` of the rows; `unavailable` says why nothing is predicted by them, absent where it is.
/// Counts from the smallest measured one to `farthest_extrapolation` times the largest, in
/// multiples of the greatest common divisor of the measured ones; of more than 512 of them as many,
/// evenly spread in log K.
/// One run takes T(K) (1 + sd t): T over the draws of all laws that hold, sd of one run from the
/// repeats' pooled spread (without repeats: what the laws miss the rows by), t Student's on the
/// degrees of freedom of that sd. The cheapest is by expected cost, without prices by ranks x time;
/// the rubric's efficiency threshold and budget hold for it, other gates cannot be predicted.
/// `in_time_anywhere` gives each draw its own best count. `measured_in_time` is that of
/// T (1 + sd sqrt(1 + 1/n) t) for n runs with median T. With failures one run ends in time by
/// `chance_in_time` of its undisturbed time, and expected times are those of `wall_time`. Absent
/// without a deadline and for rows of a load, which is not bought.
std::optional<DeadlineForecast> forecast_deadline(const std::vector<DecisionRow>& rows,
                                                  const std::optional<CombinedLaw>& laws,
                                                  const std::optional<Finding>& unavailable,
                                                  const MetricsRequest& metrics,
                                                  TimeBasis basis,
                                                  const Rubric& rubric);
}  // namespace scaleworth::model
