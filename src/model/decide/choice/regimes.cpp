// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/regimes.h"

#include "src/core/error.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {

std::vector<RegimeResult> compare_regimes(const std::vector<DecisionRow>& rows,
                                          const model::Prices& prices,
                                          const std::vector<Regime>& regimes) {
  std::vector<RegimeResult> results;
  const std::vector<model::CountTime> times = count_times(rows);
  for (const Regime& regime : regimes) {
    if (!(regime.factor > 0.0) || !std::isfinite(regime.factor)) {
      throw UserError(fmt::format(
          "--regime {}: the part of the price must be above 0, as in spot:0.30", regime.name));
    }
    const model::Prices scaled{prices.per_rank * regime.factor, prices.fixed};
    RegimeResult result{regime, {}, {}};
    for (const model::CountTime& at : times) {
      result.costs.push_back(
          model::job_cost(model::prices_at(scaled, at), at.ranks, at.time.value));
    }
    if (const auto choice = model::choose_count(scaled, times)) result.choice = *choice;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace scaleworth::decide
