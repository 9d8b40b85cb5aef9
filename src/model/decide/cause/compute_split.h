// SPDX-License-Identifier: Apache-2.0
/// Whether the compute part of a table is serial work or kernels that grow less efficient.
#pragma once

#include "src/model/decide/cause/shape_fit.h"
#include "src/model/decide/table/metrics.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

struct ComputeSplit {
  std::vector<ShapePoint> points;
  ShapeFits fits;         // of {1/r, 1}, {1/r, log2(r)/r} and both; the last is the richest
  double serial_s = 0.0;  // level part by the richest fit, at every count

  /// Share of compute's loss at `ratio` that is serial, by the richest fit, and those shares that
  /// the rows do not refute: the true one is beyond either end in one table of ten.
  double share(double ratio) const;
  std::optional<Interval<double>> range(double ratio) const;
};

/// Of the rows from the baseline on that have parts, for the same work. Serial work keeps its time,
/// a slow-down shrinks like log2(r)/r. Absent below four such rows.
std::optional<ComputeSplit> split_compute(const std::vector<DecisionRow>& rows);

}  // namespace scaleworth::decide
