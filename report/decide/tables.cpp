// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"
#include "report/decide/optional_column.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::DecisionRow;

constexpr double seconds_per_hour = 3600.0;
constexpr double million = 1e6;

Cell share_cell(const DecisionRow& row, decide::TimePart part) {
  const auto& time = row.parts_s[static_cast<std::size_t>(part)];
  return time ? Cell{number(*time / row.time.value.value())} : Cell{};
}

void append_time(Table& table, const DecideView& view) {
  const auto& rows = view.decision.shown;
  if (view.decision.coefficients) {
    add_column(table, rows, decision_column("time_h", "time", Unit::hours, 3), [](const auto& row) {
      return Cell{number(row.time.value.value() / seconds_per_hour)};
    });
    return;
  }
  add_column(
      table, rows, decision_column("time_s", "time", Unit::seconds, {}), [](const auto& row) {
        return Cell{number(row.time)};
      });
  table.columns.back().digits = 4;
}

Cell million_cell(const DecisionRow& row) {
  return row.cost_per_work ? Cell{number(*row.cost_per_work * million)} : Cell{};
}

void append_economy(Table& table, const DecideView& view) {
  const auto& rows = view.decision.shown;
  const auto scale = million_work_scale(view.decision);
  // Beside costs with intervals the rates of the same money would not fit on a page.
  const bool wide = std::any_of(rows.begin(), rows.end(), [](const DecisionRow& row) {
    return row.cost && row.cost->interval;
  });
  Column cost = decision_column("cost_usd", "cost", Unit::dollars, 3);
  cost.detail = scale.has_value();
  add_column(table, rows, cost, [](const auto& row) { return cell_or_absent(row.cost); });
  Column rate = decision_column("cost_per_million_work", "cost of 10^6 work", Unit::dollars, 4);
  rate.detail = wide && !scale;
  if (scale) rate.decimals.reset();
  add_column(table, rows, rate, [&](const DecisionRow& row) {
    if (!scale) return million_cell(row);
    return Cell{number(transform(*row.cost, [&](Dollars own) { return own * *scale; }))};
  });
  Column bought = decision_column("work_per_usd", "work per USD", Unit::count, {});
  bought.detail = wide;
  add_column(
      table, rows, bought, [](const auto& row) { return cell_or_absent(row.work_per_dollar); });
}

void append_parts(Table& table, const std::vector<DecisionRow>& rows) {
  for (const decide::TimePart part : decide::all_time_parts) {
    if (part == decide::TimePart::compute) continue;
    const std::string name = decide::time_part_name(part);
    add_column(table,
               rows,
               decision_column("share_" + name, name, Unit::percent, 1),
               [&](const auto& row) { return share_cell(row, part); });
  }
}

}  // namespace

Table decision_rows_table(const DecideView& view) {
  const auto& rows = view.decision.shown;
  Table table{"decision", "What each count does", {count_parameter()}};
  for (const DecisionRow& row : rows) table.rows.push_back({{count_cell(row.count)}});
  append_time(table, view);
  const bool weak = view.decision.scaling == decide::Scaling::weak;
  add_column(table,
             rows,
             decision_column("speedup", weak ? "scaled speed-up" : "speed-up", Unit::plain, 2),
             [](const auto& row) { return Cell{row.speedup}; });
  add_column(table,
             rows,
             decision_column("efficiency", "efficiency", Unit::percent, 2),
             [](const auto& row) { return Cell{row.efficiency}; });
  if (view.options.details) {
    add_column(table,
               rows,
               decision_column("cost_multiplier", "1/E", Unit::plain, 3),
               [](const auto& row) { return Cell{number(1.0 / row.efficiency.value)}; });
  }
  add_column(
      table, rows, decision_column("quality", "quality", Unit::plain, {}), [](const auto& row) {
        return cell_or_absent(row.quality);
      });
  append_economy(table, view);
  append_parts(table, rows);
  add_column(table,
             rows,
             decision_column("gustafson_serial", "Gustafson serial", Unit::plain, 4),
             [](const auto& row) { return cell_or_absent(row.gustafson_serial); });
  if (!view.decision.coefficients && !weak && view.decision.axis != decide::Axis::load) {
    add_column(table,
               rows,
               decision_column("karp_flatt", "Karp-Flatt", Unit::plain, 4),
               [](const auto& row) { return cell_or_absent(row.karp_flatt); });
  }
  const auto& rubric = view.decision.rubric;
  if (!rubric.exclusions.empty() || !rubric.unproven.empty()) {
    add_column(table, rows, decision_column("gate", "gate", Unit::plain, {}), [&](const auto& row) {
      return Cell{gate_mark(view.decision, row.count)};
    });
  }
  limit_rows(table);
  return table;
}

Table marginal_table(const DecideView& view) {
  const bool in_hours = view.decision.coefficients.has_value();
  const double saved_unit = in_hours ? seconds_per_hour : 1.0;
  const auto places =
      million_work_scale(view.decision) ? std::nullopt : std::optional<int>(3);  // of what is added
  Table table{
      "marginal",
      "What the next step up is worth",
      {count_parameter("from"),
       count_parameter("to"),
       decision_column("speedup_gain", "speed-up", Unit::plain, 2),
       in_hours ? decision_column("time_saved_h", "saves", Unit::hours, 5)
                : decision_column("time_saved_s", "saves", Unit::seconds, {}),
       decision_column("cost_added_usd", "adds", Unit::dollars, places),
       decision_column("speedup_per_usd", "speed-up per USD", Unit::plain, places ? 2 : places),
       decision_column("usd_per_hour_saved", "USD per hour saved", Unit::plain, 2),
       decision_column("kind", "so it is", Unit::plain, {})}};
  for (const decide::MarginalStep& step : view.decision.steps) {
    table.rows.push_back({{count_cell(step.from),
                           count_cell(step.to),
                           number(step.speedup_gain),
                           number(step.time_saved.value() / saved_unit),
                           number(step.cost_added),
                           cell_or_absent(step.speedup_per_dollar),
                           cell_or_absent(step.dollars_per_hour_saved),
                           std::string(decide::step_kind_name(step.kind))}});
  }
  table.notes = {"A free step saves time and money and comes before any other; no ratio ranks it."};
  limit_rows(table);
  return table;
}

Table exclusions_table(const DecideView& view) {
  Table table{"excluded",
              "Counts that fail a gate",
              {count_parameter(), decision_column("reason", "reason", Unit::plain, {})}};
  for (const decide::Exclusion& exclusion : view.decision.rubric.exclusions) {
    for (const int count : exclusion.counts) {
      table.rows.push_back({{count_cell(count), exclusion.reason}});
    }
  }
  limit_rows(table);
  return table;
}

}  // namespace scaleworth::report
