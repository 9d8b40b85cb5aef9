// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/sections/sections.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace scaleworth::report {

CollectiveTime collective_time(const attribution::CollectiveWait& collective) {
  CollectiveTime time;
  for (const auto& participant : collective.participants) {
    time.wait += in_seconds(participant.wait);
    time.transfer += in_seconds(participant.transfer);
  }
  return time;
}

std::vector<std::size_t> listed_collectives(const attribution::Attribution& attribution) {
  std::vector<std::size_t> order(attribution.collectives.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most_collectives) return order;
  std::vector<double> waits;
  waits.reserve(order.size());
  for (const auto& collective : attribution.collectives) {
    waits.push_back(collective_time(collective).wait);
  }
  const auto longer = [&](std::size_t a, std::size_t b) {
    return waits[a] != waits[b] ? waits[a] > waits[b] : a < b;
  };
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(most_collectives);
  std::nth_element(order.begin(), last, order.end(), longer);
  order.erase(last, order.end());
  std::sort(order.begin(), order.end());
  return order;
}

double counted_gpu_seconds(const AttributionView& view) {
  if (!view.averages) return 0.0;
  double total = 0.0;
  for (const AveragedLedger& rank : view.averages->ranks) total += rank.step.mean * rank.steps;
  return total;
}

std::optional<double> share_of_gpu_time(const AttributionView& view,
                                        const attribution::Culprit& culprit) {
  const double total = counted_gpu_seconds(view);
  if (!(total > 0.0)) return std::nullopt;
  return culprit.gpu_seconds / total;
}

std::optional<double> lost_per_hour(const AttributionView& view,
                                    const attribution::Culprit& culprit) {
  const auto share = share_of_gpu_time(view, culprit);
  const auto& price = view.options.price_per_gpu;
  if (!share || !price) return std::nullopt;
  return *share * price->value() * 3600.0 * static_cast<double>(view.averages->ranks.size());
}

void limit_rows(Table& table, const std::string& what) {
  if (table.rows.size() <= most_rows) return;
  for (std::size_t i = most_rows; i < table.rows.size(); ++i) table.rows[i].detail = true;
  table.notes.push_back(
      fmt::format("{} more {} in CSV, JSON and HTML.", table.rows.size() - most_rows, what));
}

void drop_empty_columns(Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(), [c](const Row& row) {
      return std::holds_alternative<std::monostate>(row.cells[c]);
    });
    if (!empty || table.rows.empty()) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (Row& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

Column parameter_column(const std::string& id, const std::string& header, Unit unit) {
  return {id, header, Role::parameter, unit};
}

Column time_column(const std::string& id, const std::string& header) {
  return {id, header, Role::measure, Unit::seconds};
}

Column measure_column(const std::string& id, const std::string& header, Unit unit) {
  return {id, header, Role::measure, unit};
}

Cell rank_cell(Rank rank) {
  return std::to_string(rank.index);
}

Cell time_cell(attribution::Nanoseconds time) {
  return number(in_seconds(time));
}

}  // namespace scaleworth::report
