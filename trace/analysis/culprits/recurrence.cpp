// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/recurrence.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::trace {

using attribution::Recurrence;

double binomial_tail(std::int32_t hits, std::int32_t trials, double chance) {
  if (hits <= 0 || chance >= 1.0) return 1.0;
  if (chance <= 0.0) return 0.0;
  double tail = 0.0;
  for (std::int32_t k = hits; k <= trials; ++k)
    tail +=
        std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                 k * std::log(chance) + (trials - k) * std::log1p(-chance));
  return std::min(tail, 1.0);
}

RecurrenceCount count_recurrence(const std::map<std::int32_t, std::vector<double>>& cost,
                                 const std::vector<std::uint32_t>& units,
                                 std::uint32_t unit_count,
                                 std::int32_t steps,
                                 double threshold) {
  constexpr std::int32_t fewest_steps = 3;
  constexpr double most = 0.6;
  constexpr double unlikely = 1e-3;
  RecurrenceCount count;
  count.by_rank.resize(units.size());
  std::vector<std::int32_t> by_unit(unit_count);
  for (const auto& [step, by_rank] : cost) {
    std::vector<double> of_units(unit_count);
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      of_units[units[rank]] += by_rank[rank];
    const auto unit = std::max_element(of_units.begin(), of_units.end());
    if (unit == of_units.end() || *unit < threshold || *unit <= 0.0) continue;
    ++by_unit[static_cast<std::size_t>(unit - of_units.begin())];
    const auto rank = std::max_element(by_rank.begin(), by_rank.end());
    ++count.by_rank[static_cast<std::size_t>(rank - by_rank.begin())];
  }
  if (steps < fewest_steps || by_unit.empty()) return count;
  const auto top = std::max_element(by_unit.begin(), by_unit.end());
  count.beyond_chance = binomial_tail(*top, steps, 1.0 / unit_count) * unit_count < unlikely;
  const bool recurs = *top == steps || (*top >= most * steps && count.beyond_chance);
  count.recurrence = recurs ? Recurrence::one_rank : Recurrence::rotating;
  if (recurs) count.unit = static_cast<std::uint32_t>(top - by_unit.begin());
  return count;
}

}  // namespace scaleworth::trace
