// SPDX-License-Identifier: Apache-2.0
/// The inputs that the cost of a decision hangs on, each as a function of its value.
#pragma once

#include "src/model/decide/choice/regimes.h"
#include "src/model/decide/choice/sensitivity.h"
#include "src/model/decide/cost_curve.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

/// What the costs are made from.
struct CostBasis {
  std::vector<model::CountTime> times;
  model::Prices prices;
  std::optional<Coefficients> coefficients;  // that the times were computed from
};

/// Price per rank, price per hour, time of all counts; with coefficients s and c. Each row's
/// cheapest count is that of the prices.
std::vector<Sensitivity> cost_sensitivities(const CostBasis& basis);

/// The same on machines that may be taken away, whose cheapest count is by expected cost: spot
/// price, reclaims, checkpoint and restart. Empty when no count ends, or beyond 512 counts, where
/// it would take long.
std::vector<Sensitivity> spot_sensitivities(const CostBasis& basis, const SpotTerms& terms);
inline constexpr std::size_t most_spot_counts = 512;

}  // namespace scaleworth::decide
