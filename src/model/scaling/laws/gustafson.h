// SPDX-License-Identifier: Apache-2.0
/// Gustafson's law fitted to weak scaling: the serial part of the time of the parallel run.
///   S(K) = K - s (K - 1)
#pragma once

#include "src/core/estimate.h"
#include "src/model/scaling/contention/law.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

struct GustafsonFit {
  double single = 0.0;  // time of the work at one rank, s
  /// s with its 95 % profile interval on n - 2 degrees of freedom; cut at 0 and 1.
  Estimate<double> serial;
  double residual = 0.0;       // root mean square of the relative residuals
  double largest_count = 1.0;  // of the points
  double amdahl_serial = 0.0;  // s_A of the problem as large as at that count
};

/// p - s (p - 1), s measured in the parallel run. Source: Gustafson, CACM 31 (1988).
double gustafson_speedup(double serial, double count);

/// The serial fraction that Amdahl's law would use: s is a part of the parallel run's time at
/// `count`, s_A of the time that the same problem takes at one rank, s_A = s / (s + K (1 - s)).
double amdahl_serial_of(double gustafson_serial, double count);

/// `points` hold the time of the same work at each count, as for the other laws: for weak scaling
/// the time of a row over the growth of its work. Least squares of the relative error of the work
/// rate per rank, 1 / (K T) = g ((1 - s) + s / K), 0 <= s <= 1, g free. Absent for fewer than three
/// different counts: through two any such law passes, and nothing would say how far it is off.
/// Throws UserError for a time that is not positive.
std::optional<GustafsonFit> fit_gustafson(const std::vector<LawPoint>& points);

}  // namespace scaleworth::model
