// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/decide/optional_column.h"
#include "src/model/decide/table/row_facts.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::DecisionRow;

constexpr std::size_t most_listed = 32;
constexpr double seconds_per_hour = 3600.0;

Table by_count(const std::string& id, const std::string& title, const DecideView& view) {
  Table table{id, title, {{"count", "count", Role::parameter, Unit::count}}};
  for (const DecisionRow& row : view.decision.shown) {
    const std::size_t place = table.rows.size() + 1;
    const bool kept = view.decision.shown.size() <= most_listed || std::has_single_bit(place) ||
                      place == view.decision.shown.size();
    table.rows.push_back({{number(row.count)}, !kept});
  }
  return table;
}

/// Nothing but the count: then there is nothing to tell.
Table told(Table table) {
  if (table.columns.size() < 2) table.rows.clear();
  return table;
}

std::vector<std::string> latency_names(const std::vector<DecisionRow>& rows) {
  std::vector<std::string> names;
  for (const DecisionRow& row : rows) {
    for (const decide::Latency& latency : row.facts.latencies) {
      if (std::find(names.begin(), names.end(), latency.name) == names.end()) {
        names.push_back(latency.name);
      }
    }
  }
  return names;
}

void add_facts(Table& table, const std::vector<DecisionRow>& rows) {
  add_column(
      table, rows, decision_column("layout", "layout", Unit::plain, {}), [](const auto& row) {
        const std::string text = decide::layout_text(row.facts.layout);
        return text.empty() ? Cell{} : Cell{text};
      });
  add_column(table, rows, decision_column("batch", "batch", Unit::count, {}), [](const auto& row) {
    return cell_or_absent(row.facts.batch);
  });
  add_column(table,
             rows,
             decision_column("microbatches", "microbatches", Unit::count, {}),
             [](const auto& row) { return cell_or_absent(row.facts.microbatches); });
  add_column(table,
             rows,
             decision_column("rate_usd_per_hour", "USD per rank and hour", Unit::plain, 2),
             [](const auto& row) {
               return row.facts.price ? Cell{number(row.facts.price->value() * seconds_per_hour)}
                                      : Cell{};
             });
}

}  // namespace

Table facts_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table = by_count("facts", "What the table says of each count", view);
  add_column(table,
             rows,
             decision_column("work_per_s", "work per second", Unit::plain, {}),
             [](const auto& row) { return cell_or_absent(row.throughput); });
  for (const std::string& name : latency_names(rows)) {
    add_column(table,
               rows,
               decision_column("latency_" + name + "_s", name, Unit::seconds, {}),
               [&](const auto& row) { return cell_or_absent(row.facts.latency_s(name)); });
  }
  add_facts(table, rows);
  return told(std::move(table));
}

Table parts_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table = by_count("parts", "Where the time of each count goes", view);
  for (const decide::TimePart part : decide::all_time_parts) {
    const auto i = static_cast<std::size_t>(part);
    const std::string name = decide::time_part_name(part);
    add_column(table,
               rows,
               decision_column("part_" + name + "_s", name, Unit::seconds, {}),
               [&](const auto& row) { return cell_or_absent(row.parts_s[i]); });
    add_column(table,
               rows,
               decision_column("part_" + name, "of the time", Unit::percent, 1),
               [&](const auto& row) {
                 const auto& time = row.parts_s[i];
                 return time ? Cell{number(*time / row.time.value.value())} : Cell{};
               });
  }
  return told(std::move(table));
}

}  // namespace scaleworth::report
