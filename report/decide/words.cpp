// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <fmt/format.h>

namespace scaleworth::report {

Column decision_column(const std::string& id,
                       const std::string& header,
                       Unit unit,
                       std::optional<int> decimals) {
  Column column{id, header, Role::measure, unit};
  column.decimals = decimals;
  return column;
}

std::string decision_time(const DecideView& view, Seconds time) {
  if (view.decision.coefficients) return fmt::format("{:.3f} h", time.value() / 3600.0);
  return format_quantity(number(time), Unit::seconds, 4);
}

std::string decision_money(Dollars money) {
  return fmt::format("{:.3f} USD", money.value());
}

std::string count_ranges(const std::vector<int>& counts) {
  std::string text;
  for (std::size_t first = 0; first < counts.size();) {
    std::size_t last = first;
    while (last + 1 < counts.size() && counts[last + 1] == counts[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last - first < 2 ? fmt::format("{}", counts[first])
                             : fmt::format("{} to {}", counts[first], counts[last]);
    first = last - first < 2 ? first + 1 : last + 1;
  }
  return text;
}

std::string mixture_text(const model::ScalingCause& cause) {
  std::string text;
  for (const auto& [name, share] : cause.mixture) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:.1f} %", name, 100.0 * share);
  }
  return text;
}

}  // namespace scaleworth::report
