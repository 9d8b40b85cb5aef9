// SPDX-License-Identifier: Apache-2.0
/// The same curve under several ways to pay for a rank.
#pragma once

#include "src/model/cost/owned.h"
#include "src/model/cost/spot.h"
#include "src/model/decide/table/metrics.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace scaleworth::decide {

/// A part of the price. A commitment is paid for every hour, used or not: with a utilisation the
/// used hour costs price part / utilisation.
struct PricePart {
  double part = 1.0;
  std::optional<double> utilisation;
};

/// A price of its own, for machines that stay.
struct ListPrice {
  DollarsPerSecond per_rank;
  std::optional<double> utilisation;
};

/// Machines that may be taken away: the costs are expected ones.
struct SpotTerms {
  DollarsPerSecond price_per_rank;
  model::Preemption preemption;
};

/// A way to pay for a rank; what runs with the clock or is paid once stays as it is.
struct Regime {
  std::string name;
  std::variant<PricePart, ListPrice, model::OwnedTerms, SpotTerms> terms;
};

struct RegimeResult {
  Regime regime;
  DollarsPerSecond per_rank;                  // of an hour that is used
  std::vector<std::optional<Dollars>> costs;  // row by row, of the same work; absent: no end
  std::optional<model::CostChoice> choice;    // absent when no count comes to an end
  /// With a deadline: the cheapest count that meets it; on spot, surely enough.
  std::optional<int> cheapest_in_time;
  /// Owned or committed: the utilisation from which it is cheaper than the price; above 1: never.
  std::optional<double> break_even;
};

/// One result per regime. Without a fixed rate all but spot choose the same count, whatever they
/// cost. Throws UserError for a part, a price or a utilisation that is not positive, a utilisation
/// above 1, two regimes of one name, and what `owned_price` and `plan_spot` refuse.
std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const model::Prices& prices,
                                          const std::vector<Regime>& regimes,
                                          const std::optional<model::Deadline>& deadline = {});

}  // namespace scaleworth::decide
