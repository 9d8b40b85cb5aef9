// SPDX-License-Identifier: Apache-2.0
/// Everything that a scaling table says about which count to buy.
#pragma once

#include "src/model/decision/causes.h"
#include "src/model/decision/regimes.h"
#include "src/model/laws/law_evidence.h"
#include "src/model/laws/model_selection.h"

#include <memory>
#include <optional>

namespace scaleworth::model {
struct DecisionRequest {
  MetricsRequest metrics;
  Rubric rubric;
  std::vector<Regime> regimes;
  std::optional<SpotTerms> spot;
  std::optional<MessageTerms> message;  // of the collective that dominates
  LawInputs law_inputs;
  std::optional<int> domain;         // ranks that faster links join
  std::vector<int> shown_counts;     // of coefficients; empty: the doublings
  std::vector<int> forecast_counts;  // asked for beside the usual ones
  int law_counts = 64;               // the law's curve reaches to here
  WorkPlan law_work;                 // of a step on that curve
};

/// Amdahl's law by plain least squares against the rows.
struct PlainAmdahl {
  double serial = 0.0;
  std::optional<double> ceiling;
  double predicted_at_largest = 1.0;  // speed-up
};

/// A count that is paid in another way than by the price given.
struct PaidWay {
  std::string regime;
  int count = 1;
  Dollars cost;
  Seconds time;  // expected on spot
};

struct Decision : TableKind {
  DecisionRequest request;
  std::optional<Coefficients> coefficients;  // the rows were computed from these
  Scaling scaling = Scaling::strong;
  std::vector<DecisionRow> rows;  // every count, ascending
  /// Of these, as `rows_of_same_quality`: that laws are fitted to and a verdict may name.
  std::vector<DecisionRow> fitted_rows;
  std::vector<DecisionRow> shown;  // of these what tables list
  std::vector<MarginalStep> steps;
  std::optional<CostChoice> choice;          // with prices
  std::optional<double> continuous_optimum;  // coefficients with prices
  std::vector<RegimeResult> regimes;
  std::optional<SpotChoice> spot;
  RubricResult rubric;
  /// Within every limit and cheaper, or faster, as is asked for, than what is chosen; another
  /// count.
  std::optional<PaidWay> better_way;
  std::vector<ValueOfWaiting> waiting;  // of the counts that pass every gate, with prices
  std::optional<DeadlineForecast> deadline_forecast;  // of a table, with a deadline
  NamedCounts named;
  std::optional<int> cliff;  // of `find_cliff`
  KneeSet knees;
  Diagnosis diagnosis;
  std::vector<LedgerFacts> ledgers;  // of recordings
  std::vector<RowLoss> losses;
  int cause_count = 1;                   // of the diagnosis
  std::optional<ChargedRank> straggler;  // of a run, at its largest count
  std::optional<PlainAmdahl> amdahl;
  std::optional<ScalingLaw> law;  // contention-coherency with its intervals
  std::optional<ContentionFit> fit;
  std::optional<NextMeasurement> next_measurement;  // with a fit, from four counts on
  FurtherLaws further;
  std::optional<CombinedLaw> laws;          // all that hold, weighted; from two counts on
  std::optional<LawForecast> law_forecast;  // beyond the measured counts
  std::vector<Finding> remarks;
  std::vector<Finding> edge;  // of the domain that was asked about

  const DecisionRow& row(int count) const;
  /// Null where no row has the count.
  const DecisionRow* find_row(int count) const;
  /// Whether the curve's shape has a named reason, or needs none.
  bool attributed() const { return diagnosis.cause || diagnosis.no_loss; }
};

/// Decides on measured rows. Errors as those of its parts.
Decision decide_table(const ScalingTable& table, const DecisionRequest& request);

/// Decides on the curve of coefficients over 1 to `max_count`.
Decision decide_curve(const Coefficients& coefficients,
                      int max_count,
                      const DecisionRequest& request);

struct AnalysisOptions;
struct ComputeCeiling;
struct GpuResult;

/// The training steps of one mode of a run.
struct ScalingResult {
  BatchScaling mode = BatchScaling::strong;
  /// Every measured count, ascending; speed-up, efficiency and cost as the decision has them, which
  /// leaves out the counts with a rank slowed on purpose: `decided`.
  std::vector<DecisionRow> rows;
  std::vector<ScalingLaw> laws;  // that of the decision, and the prediction from measured parts
  /// On the counts without a rank slowed on purpose; null where there is none.
  std::shared_ptr<const Decision> decision;
  std::optional<Finding> slowed;  // that a rank of the largest count was slowed on purpose
  Quality quality;
};

/// A figure that a row has by the decision; absent where that leaves its count out.
inline std::optional<Estimate<double>> decided(const DecisionRow& row,
                                               Estimate<double> DecisionRow::*member) {
  return row.trained.slowed ? std::nullopt : std::optional(row.*member);
}

/// One result per mode that has a measured count: rows with MFU and cost, the decision with its
/// contention-coherency law, and the prediction from measured parts.
/// `ceilings` measured FMA rates, under which steps in fp32 stand, and `gpus`, under whose products
/// those in other formats do: each may be empty, as `all_reduce`.
/// A strong curve ends at the global batch: a rank without a sequence has no work.
/// Throws UserError for malformed points.
std::vector<ScalingResult> analyse_scaling(const Run& run,
                                           const AnalysisOptions& options,
                                           const std::vector<ComputeCeiling>& ceilings,
                                           const std::vector<GpuResult>& gpus,
                                           const AllReduceTime& all_reduce);
}  // namespace scaleworth::model
