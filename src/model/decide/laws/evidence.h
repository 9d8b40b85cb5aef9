// SPDX-License-Identifier: Apache-2.0
/// What stands behind the laws of a scaling table: the fit row by row, the counts it leads to, and
/// what to measure next.
#pragma once

#include "src/model/decide/table/metrics.h"
#include "src/model/scaling/contention/law.h"
#include "src/model/scaling/contention/next_measurement.h"
#include "src/model/scaling/contention/profile.h"
#include "src/model/scaling/contention/throughput.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// One row against the contention-coherency law.
struct LawRow {
  int count = 1;
  Seconds measured;  // of the same work
  Seconds fitted;
  double residual = 0.0;           // fitted / measured - 1
  std::optional<double> left_out;  // the same, by the fit to all other rows; four rows at least
};

struct LawEvidence {
  std::vector<LawRow> rows;  // none without a fit
  std::optional<model::CountEstimate> least_time;
  std::optional<model::CountEstimate> least_cost;  // with prices
  std::optional<model::NextMeasurement> next;      // from four counts on
  /// To the throughputs, where every row has one and there are four rows at least.
  std::optional<model::ThroughputFit> throughput;
};

/// The rows as laws are fitted to them: the time of the same work, with the standard deviation of
/// the median of the repeats: theirs over sqrt(n), times 1.2533 from three on (normal noise).
std::vector<model::LawPoint> points_of_laws(const std::vector<DecisionRow>& rows);

/// `fit` is that of `rows`, absent where there is none. Rows are left out one by one for tables of
/// up to `most_left_out` rows.
LawEvidence law_evidence(const std::vector<DecisionRow>& rows,
                         const std::optional<model::ContentionFit>& fit,
                         const std::optional<model::Prices>& prices);
inline constexpr std::size_t most_left_out = 200;

/// What to know before an optimum of `law` is believed: it lies beyond four times the largest
/// measured count. Empty where it does not.
std::vector<std::string> extrapolation_remarks(const model::ScalingLaw& law, int largest_measured);

}  // namespace scaleworth::decide
