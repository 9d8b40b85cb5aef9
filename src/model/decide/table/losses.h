// SPDX-License-Identifier: Apache-2.0
/// Where the time went that separates each row from the ideal, from the table's parts.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

/// One row's gap from ideal.
struct RowLoss {
  int count = 1;
  double missing = 0.0;  // folds: count ratio - speed-up
  PartTimes lost_s{};    // part - the baseline's part, growth of work and count taken into account
  /// Each part's share of the losses above zero, whole 1; absent where nothing was lost.
  std::array<std::optional<double>, time_parts> share{};
  std::optional<double> without_communication;  // speed-up, had it taken no time
  std::optional<double> without_idle;
};

/// One row per row beyond the baseline that has parts, as has the baseline; else none.
std::vector<RowLoss> row_losses(const std::vector<DecisionRow>& rows);

/// A part against the count, over the rows beyond the baseline where it took time.
struct PartGrowth {
  TimePart part = TimePart::communication;
  double exponent = 0.0;  // part ~ count^exponent, least squares of the logarithms
  double slope = 0.0;     // part = slope count + intercept, s, plain least squares
  double intercept = 0.0;
};

/// Communication, idle, host and I/O, each where at least three rows have it.
std::vector<PartGrowth> part_growth(const std::vector<DecisionRow>& rows);

}  // namespace scaleworth::decide
