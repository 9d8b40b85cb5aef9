// SPDX-License-Identifier: Apache-2.0
/// A scaling curve from draws of its step time: intervals, fastest count, K* and its range.
#pragma once

#include "src/model/cost.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {
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
}  // namespace scaleworth::model
