// SPDX-License-Identifier: Apache-2.0
/// What going from one count to a larger one saves and costs.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

enum class StepKind {
  free,    // saves time and money: taken before any that costs
  paid,    // saves time, costs money
  slower,  // costs time, saves money
  loss,    // costs time and money
};
/// "free", "paid", "slower and cheaper", "slower and dearer".
const char* step_kind_name(StepKind kind);

struct MarginalStep {
  int from = 1;
  int to = 2;
  StepKind kind = StepKind::paid;
  double speedup_gain = 0.0;
  Seconds time_saved;
  Dollars cost_added;
  /// Only where money is spent: a ratio to money saved would rank the best steps last.
  std::optional<double> speedup_per_dollar;
  std::optional<double> dollars_per_hour_saved;  // only for `paid`
};

/// Between each row and the next in `rows`; empty unless all rows have costs.
std::vector<MarginalStep> marginal_steps(const std::vector<DecisionRow>& rows);

/// The rows whose counts are the first row's times a power of two.
std::vector<DecisionRow> doublings(const std::vector<DecisionRow>& rows);

}  // namespace scaleworth::decide
