// SPDX-License-Identifier: Apache-2.0
/// A scaling table from the coefficients of a law, where nothing was measured.
#pragma once

#include "src/model/analysis.h"
#include "src/model/cost/cost.h"
#include "src/model/decide/table/scaling_table.h"

#include <optional>

namespace scaleworth::decide {

/// T(K) = T1 (s + (1 - s)/K + c (K - 1)).
struct Coefficients {
  double serial = 0.0;         // s, in [0, 1]
  double communication = 0.0;  // c >= 0
  Seconds single{3600};        // T1
};

/// Counts 1 to `max_count`, exact times. Throws UserError for coefficients out of their range or a
/// count out of 1 to `most_curve_counts`.
ScalingTable curve_table(const Coefficients& coefficients, int max_count);
inline constexpr int most_curve_counts = 100000;

/// The continuous count of least cost: p (s - c) + 2 p c K + f c - f (1 - s)/K^2 = 0 for prices p
/// per rank and f per wall-clock hour, by bisection between 1 and sqrt((1-s)/c), above which time
/// grows. 1 where cost rises from there on; absent where it falls for ever or p = f = 0.
std::optional<double> continuous_optimum(const Coefficients& coefficients,
                                         const model::Prices& prices);

}  // namespace scaleworth::decide
