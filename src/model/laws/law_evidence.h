// SPDX-License-Identifier: Apache-2.0
/// Points of laws, next measurement, extrapolation, domain, micro-batches.
#pragma once

#include "src/model/decision/scaling_row.h"
#include "src/model/laws/contention_law.h"

#include <optional>

namespace scaleworth::model {
/// The count that says most about what is to be bought.
struct NextMeasurement {
  int count = 1;
  /// What one run there does to the 95 % interval of the cost-optimal count, in counts; absent
  /// where the prices ask for no such count and the design is D-optimal instead.
  std::optional<double> width_before;
  std::optional<double> width_after;
  std::optional<Dollars> cost;  // of that run, by the fitted time
};

/// Among the unmeasured counts up to twice the largest (at most 4096 of them, evenly spread).
/// With prices and a cost-optimal count inside the curve: the largest reduction of the width of its
/// interval per dollar. By linearisation at the fit, as if it were exact: the variance of K* is
/// g' (J'J)^-1 g with its gradient g, and a run at K adds the row of K to J.
/// Otherwise the count that most increases det(J'J) (D-optimal; Atkinson & Donev 1992).
/// `fit` is that of `points`.
NextMeasurement next_measurement(const std::vector<TimePoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices);

/// A time of `row`, s, at `count` as laws are fitted to it: with the relative standard deviation of
/// the median of the repeats: theirs over sqrt(n), times 1.2533 from three on (normal noise); of a
/// mean without that factor, n = its independent repeats.
TimePoint point_of_law(const DecisionRow& row, double count, double time);

/// The time of the same work at each count.
std::vector<TimePoint> points_of_laws(const std::vector<DecisionRow>& rows);

/// What to know before an optimum of `law` is believed: it lies beyond four times the largest
/// measured count. Empty where it does not.
std::vector<Finding> extrapolation_remarks(const ScalingLaw& law, int largest_measured);

/// What `domain` ranks joined by faster links (NVLink, one node) mean for the table:
/// - every count within it: nothing is known of the slower links, on which every forecast beyond it
///   stands;
/// - counts on both sides: by how much the first beyond it misses the law E(K) = 1/(1 + s (K-1) +
///   c K (K-1)) of those within, a change of regime above 5 % and three times the law's
///   own residual; three counts within it are needed;
/// - tensor parallelism wider than the domain.
/// Throws UserError for fewer than two ranks.
std::vector<Finding> domain_remarks(const std::vector<DecisionRow>& rows, int domain);

/// The first count whose replicas have fewer micro-batches than pipeline stages, where memory and
/// overlap are others than before; and, for a fixed batch and layout of the replica, the count
/// beyond which no micro-batch is left. Empty for rows without micro-batches.
std::vector<Finding> micro_batch_remarks(const std::vector<DecisionRow>& rows, Scaling scaling);
}  // namespace scaleworth::model
