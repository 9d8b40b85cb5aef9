// SPDX-License-Identifier: Apache-2.0
/// Which count to measure next: the one that says most about what is to be bought.
#pragma once

#include "src/core/units.h"
#include "src/model/cost/cost.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

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
NextMeasurement next_measurement(const std::vector<LawPoint>& points,
                                 const ContentionFit& fit,
                                 const std::optional<Prices>& prices);

}  // namespace scaleworth::model
