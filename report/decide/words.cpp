// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

/// Amounts below are told by their digits, and those of rows by their work.
constexpr double cent = 0.01;

}  // namespace

Column count_parameter(const std::string& id) {
  return {id, id, Role::parameter, Unit::count};
}

Cell count_cell(int count) {
  return number(count);
}

void limit_rows(Table& table) {
  constexpr std::size_t most_listed = 32;
  if (table.rows.size() <= most_listed) return;
  std::size_t listed = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool kept = std::has_single_bit(i + 1) || i + 1 == table.rows.size();
    table.rows[i].detail = !kept;
    listed += kept ? 1 : 0;
  }
  table.notes.push_back(fmt::format("{} more in CSV, JSON and HTML.", table.rows.size() - listed));
}

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

double hourly_price(DollarsPerSecond price) {
  return price.value() * 3600.0;
}

std::string decision_money(Dollars money) {
  const double usd = money.value();
  if (usd == 0.0 || std::abs(usd) >= cent) return fmt::format("{:.3f} USD", usd);
  return format_number(number(usd), Unit::dollars, {}) + " USD";
}

std::optional<double> million_work_scale(const decide::Decision& decision) {
  constexpr double million = 1e6;
  std::optional<double> scale;
  for (const decide::DecisionRow& row : decision.rows) {
    const double cost = row.cost ? row.cost->value.value() : 0.0;
    if (!row.cost_per_work || !(cost > 0.0) || cost >= cent) return std::nullopt;
    scale = million * (*row.cost_per_work / row.cost->value);
  }
  return scale;
}

std::string decision_money(const DecideView& view, Dollars money) {
  const auto scale = million_work_scale(view.decision);
  return scale ? decision_money(money * *scale) + " per 10^6 work" : decision_money(money);
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
