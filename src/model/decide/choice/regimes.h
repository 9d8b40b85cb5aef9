// SPDX-License-Identifier: Apache-2.0
/// The same curve under several price lists.
#pragma once

#include "src/model/decide/table/metrics.h"

#include <string>
#include <vector>

namespace scaleworth::decide {

/// A way to pay for a rank, as a part of the price; the fixed rate per hour stays as it is.
struct Regime {
  std::string name;
  double factor = 1.0;
};

struct RegimeResult {
  Regime regime;
  std::vector<Dollars> costs;  // row by row, of the same work
  model::CostChoice choice;
};

/// One result per regime. Without a fixed rate all choose the same count, whatever their factors.
/// Throws UserError for a factor that is not positive.
std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const model::Prices& prices,
                                          const std::vector<Regime>& regimes);

}  // namespace scaleworth::decide
