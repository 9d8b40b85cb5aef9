// SPDX-License-Identifier: Apache-2.0
/// Amdahl's law by plain least squares, the textbook's fit.
#pragma once

#include <optional>
#include <vector>

namespace scaleworth::model {

struct MeasuredSpeedup {
  double count = 1.0;  // over the baseline's count
  double speedup = 1.0;
};

/// Minimises sum_i ((1/S_i - 1/p_i) - s (1 - 1/p_i))^2 over s: every row weighs the same and the
/// baseline counts as exact, so it is no match for `fit_contention`; it is the fit that others
/// print. Absent without a row beyond the baseline.
std::optional<double> plain_amdahl_serial(const std::vector<MeasuredSpeedup>& rows);

/// S(p) = 1 / (s + (1 - s) / p). Source: Amdahl, AFIPS 30 (1967).
double amdahl_speedup(double serial, double count);

/// 1/s; absent for s <= 0, where there is none.
std::optional<double> amdahl_ceiling(double serial);

}  // namespace scaleworth::model
