// SPDX-License-Identifier: Apache-2.0
/// The gap from ideal by the laws that totals allow, with the spread that the choice of fit causes.
#pragma once

#include "src/model/decide/cause/gap.h"
#include "src/model/decide/cause/shape_fit.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// How one fit divides the missing speed-up r - S at the largest count ratio r.
struct LawReading {
  std::string fit;
  double serial = 0.0;          // s
  double serial_folds = 0.0;    // r - S with the serial part alone
  double overhead_folds = 0.0;  // what the overhead takes beyond; a law without one: the rest
  double unexplained_folds = 0.0;
  double serial_share = 0.0;  // of the lost seconds, in 0 to 1
  double residual = 0.0;      // root mean square, relative
  bool holds = true;          // not refuted by the rows
};

struct LawSpread {
  int count = 1;         // the largest
  double missing = 0.0;  // folds
  std::vector<LawReading> readings;
  /// Serial share by the readings that hold, noise left out; absent where none does.
  std::optional<Interval<double>> by_fits;
  /// The same with their draws; absent where the rows do not tell their noise.
  std::optional<Interval<double>> serial_share;
  Gap gap;  // by the law with c or with a logarithm, whichever fits better, with the spread
};

/// Four fits of the rows from the baseline on:
///   Amdahl by plain least squares (the textbook's; the baseline counts as exact),
///   Amdahl, Amdahl with c (K - 1) and Amdahl with a logarithm, by least relative squares with T1
///   free and terms >= 0.
/// A fit is refuted by `fit_shapes` against all four terms. The lost seconds of a law are additive:
/// T1 s (1 - 1/r) and the overhead's term; folds are not, the serial part comes first.
/// Absent below four such rows.
std::optional<LawSpread> law_spread(const std::vector<DecisionRow>& rows);

}  // namespace scaleworth::decide
