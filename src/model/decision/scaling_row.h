// SPDX-License-Identifier: Apache-2.0
/// `DecisionRow`: speed-up, efficiency, Karp-Flatt, work, cost, energy.
#pragma once

#include "src/model/cost.h"
#include "src/model/decision/scaling_table.h"

#include <optional>

namespace scaleworth::model {
/// What interrupts a row's job, and its checkpoints against that.
struct FailurePlan {
  Preemption terms;
  SpotPlan plan;  // of a long job where the row's time is of a step or of units of work
};

/// What a row of a scaling table is worth; `throughput` is the work over the time.
struct DecisionRow : TableRow {
  double count_ratio = 1.0;     // over the baseline's count
  Estimate<Seconds> same_work;  // that the baseline's work takes: time over the growth of the work
  Estimate<double> speedup;     // baseline's time over `same_work`; exactly 1 at the baseline
  Estimate<double> efficiency;  // speed-up over count ratio; above 1 is kept
  /// Beyond the baseline and of the baseline's work only: its 1/S counts the time of the same work.
  std::optional<Estimate<double>> karp_flatt;
  /// Gustafson's serial fraction (K - S) / (K - 1), K the count ratio and S the scaled speed-up:
  /// of the time at this count. Beyond the baseline and where the work grows with the count only.
  std::optional<Estimate<double>> gustafson_serial;
  std::optional<Estimate<Dollars>> cost;  // of the baseline's work
  std::optional<Dollars> cost_per_work;
  std::optional<double> work_per_dollar;
  std::optional<JobEnergy> energy;        // of the baseline's work
  std::optional<double> energy_per_work;  // J
  double price_factor = 1.0;              // its own price over the common one
  std::optional<FailurePlan> failures;    // where they are asked for
  SampleVariance noise;                   // `repeat_noise` of the table

  /// Its work over the baseline's.
  double work_growth() const { return time.value / same_work.value; }
  /// What `same_work` is expected to take with failures.
  Estimate<Seconds> wall() const;
  /// What one further run takes at most with `probability`, failures apart: T (1 + q sd sqrt(1 +
  /// v)) for runs with median T, v its `median_variance`, q the quantile of Student's t on the
  /// degrees of freedom of sd.
  /// Assumes that runs of all counts spread alike. Without repeats the upper end of T's interval.
  Seconds latest(double probability) const;
  /// Whether one further run meets it with its probability.
  bool in_time(const Deadline& deadline) const;
};

/// The row that the others are relative to; null where it is not among them.
const DecisionRow* baseline_row(const std::vector<DecisionRow>& rows);

struct MetricsRequest {
  std::optional<int> baseline;   // absent: the smallest count
  std::optional<Prices> prices;  // absent: no costs
  std::optional<double> work;    // of every row whose table does not say it
  PowerTerms power;              // of rows without meters; the building and the grid of all
  /// Of every way to pay. Absent: not counted, with a remark where they would matter; a rate of 0:
  /// not counted.
  std::optional<Preemption> failures;
};

/// What failures make of the times of a table: one function for its rows, its laws and forecasts.
WallTime wall_time(const MetricsRequest& request, TimeBasis basis);

/// One row per row of the table. With work in the rows the speed-up is the ratio of throughputs, so
/// that a batch that grows with the count is not mistaken for time; intervals by `ratio`.
/// With failures `cost` is that of the expected time; speed-up and efficiency are those of the
/// undisturbed times, which laws are fitted to. Throws UserError when the baseline is not in the
/// table, only some rows have work, a job does not finish for failures, or the rows are loads, or
/// nodes at the published failures of a GPU.
std::vector<DecisionRow> decision_rows(const ScalingTable& table, const MetricsRequest& request);

/// Within 1 %: strong for equal work (or none given), weak for work in proportion to the count.
Scaling scaling_of(const ScalingTable& table);
/// `table` with the growth of its rows' work settled: as `declared`, else by their work, a batch
/// that grows, the columns' names, the speed-ups or efficiencies that the table states, or times
/// that fall. Weak without work in the rows means work in proportion to the count. Throws Question
/// where nothing says it and both fit, UserError where the work of the rows contradicts `declared`.
ScalingTable settle_scaling(ScalingTable table, std::optional<Scaling> declared);
/// Whether the speed-ups or efficiencies that a table states are those of its times, or rates.
bool states_same_work(const ScalingTable& table);

/// The expected time of the same work at each count and its price, for `choose_count`.
std::vector<CountTime> count_times(const std::vector<DecisionRow>& rows);
/// Its undisturbed time, up to what one further run takes at most with `probability`, for
/// `choose_spot_count`.
std::vector<CountTime> undisturbed_times(const std::vector<DecisionRow>& rows, double probability);

/// The common price of a rank for `decision_rows`, whose rows then pay their own price where they
/// have one: `given`, or without it the largest of the rows. Absent without any. Throws UserError
/// where only some rows have a price and none is given for the others, and for a price of ranks
/// above 0 on a table whose rows are loads of one machine.
std::optional<DollarsPerSecond> rank_price(const ScalingTable& table,
                                           std::optional<DollarsPerSecond> given);

/// Largest relative difference of losses at one step between counts that still counts as the same
/// training: fp32 sums in another order differ by about 1e-6 a step and grow over some tens of
/// steps; a wrong or missing gradient moves the loss by per cents.
inline constexpr double loss_tolerance = 1e-3;

/// The first count that loses more of the speed-up of the count before it, the best so far, than
/// contention and coherency take there. By T(K) = T1 (1/K + c (K - 1)) the loss is largest without
/// serial work; where a count is not slower than K, r K has at least r / (r^2 - r + 1) of its
/// speed-up, 2/3 at twice the count. Less, beyond the intervals, is another cause: another
/// topology, another library, a fault. Absent for none.
std::optional<int> find_cliff(const std::vector<DecisionRow>& rows);

/// Karp-Flatt metric e(K) = (1/S - 1/K) / (1 - 1/K). `count_ratio` = K / K0 > 1.
/// Source: Karp & Flatt, CACM 33 (1990).
double karp_flatt(double speedup, double count_ratio);

struct Quality {
  bool held = false;
  std::optional<Finding> note;  // why
};

/// Strong scaling: whether the losses agree across counts at every step within `loss_tolerance`.
/// Weak scaling trains on another batch at each count: its losses are not comparable.
Quality quality_of(const MeasuredMode& mode);
}  // namespace scaleworth::model
