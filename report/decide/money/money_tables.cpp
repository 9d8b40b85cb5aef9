// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr std::size_t most_columns = 6;

struct Words {
  std::string operator()(const decide::PricePart& terms) const {
    return used(fmt::format("{:g} % of the price", 100.0 * terms.part), terms.utilisation);
  }
  std::string operator()(const decide::ListPrice& terms) const {
    return used(fmt::format("{:g} USD per rank-hour", hourly_price(terms.per_rank)),
                terms.utilisation);
  }
  std::string operator()(const model::OwnedTerms& terms) const {
    return fmt::format(
        "bought for {:g} USD, sold for {:g} after {:g} years, {:g} % a year; {:g} kW at PUE {:g} "
        "and {:g} USD per kWh; {:g} USD a year to run; used {:g} % of the hours",
        terms.capital.value(),
        terms.residual.value(),
        terms.lifetime_years,
        100.0 * terms.discount_rate,
        terms.power_kw,
        terms.power_usage_effectiveness,
        terms.usd_per_kwh,
        terms.operation_usd_per_year,
        100.0 * terms.utilisation);
  }
  std::string operator()(const decide::SpotTerms& terms) const {
    const model::Preemption& at = terms.preemption;
    return fmt::format(
        "{:g} USD per rank-hour, {:g} reclaims per rank and hour; checkpoint {:g} s, restart {:g} "
        "s, notice {:g} s; costs are expected ones",
        hourly_price(terms.price_per_rank),
        at.per_hour,
        at.checkpoint.value(),
        at.restart.value(),
        at.notice.value());
  }

 private:
  static std::string used(const std::string& price, const std::optional<double>& utilisation) {
    if (!utilisation) return price;
    return fmt::format(
        "{}, paid for all hours and used {:g} % of them", price, 100.0 * *utilisation);
  }
};

std::vector<Column> regime_columns(bool in_time, bool break_even) {
  std::vector<Column> columns{
      {"regime", "regime", Role::parameter, Unit::plain},
      decision_column("price_per_used_hour_usd", "used rank-hour", Unit::dollars, 4),
      decision_column("cheapest", "cheapest count", Unit::count, {}),
      decision_column("cheapest_usd", "its cost", Unit::dollars, 4)};
  if (in_time) {
    columns.push_back(decision_column("cheapest_in_time", "in time", Unit::count, {}));
    columns.push_back(decision_column("cheapest_in_time_usd", "its cost", Unit::dollars, 4));
  }
  if (break_even) {
    columns.push_back(decision_column("break_even", "pays from a use of", Unit::percent, 1));
  }
  return columns;
}

Cell cost_at(const DecideView& view, const decide::RegimeResult& result, std::optional<int> count) {
  if (!count) return {};
  const auto& rows = view.decision.rows;
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.count == *count; });
  return cell_or_absent(result.costs[static_cast<std::size_t>(at - rows.begin())]);
}

Row regime_row(const DecideView& view,
               const decide::RegimeResult& result,
               bool in_time,
               bool break_even) {
  const std::optional<int> cheapest =
      result.choice ? std::optional(result.choice->cheapest) : std::nullopt;
  Row row{{result.regime.name,
           number(hourly_price(result.per_rank)),
           cell_or_absent(cheapest),
           cost_at(view, result, cheapest)}};
  if (in_time) {
    row.cells.push_back(cell_or_absent(result.cheapest_in_time));
    row.cells.push_back(cost_at(view, result, result.cheapest_in_time));
  }
  if (break_even) row.cells.push_back(cell_or_absent(result.break_even));
  return row;
}

model::BillLines lines_of(const decide::Decision& decision, const decide::DecisionRow& row) {
  model::BillTerms terms = *decision.bill;
  terms.per_rank = terms.per_rank * row.price_factor;
  return model::bill_lines(terms, row.count, row.same_work.value);
}

}  // namespace

std::string regime_terms(const decide::Regime& regime) {
  return std::visit(Words{}, regime.terms);
}

Table regimes_table(const DecideView& view) {
  const auto& decision = view.decision;
  const bool in_time = view.options.rubric.deadline.has_value();
  const bool break_even =
      std::any_of(decision.regimes.begin(), decision.regimes.end(), [](const auto& result) {
        return result.break_even.has_value();
      });
  Table table{
      "regime", "The same work under several ways to pay", regime_columns(in_time, break_even)};
  const bool few = decision.rows.size() <= most_columns;
  for (const auto& row : decision.rows) {
    if (!few) break;
    table.columns.push_back(decision_column(fmt::format("cost_at_{}_usd", row.count),
                                            fmt::format("at {}", row.count),
                                            Unit::dollars,
                                            4));
  }
  for (const decide::RegimeResult& result : decision.regimes) {
    Row row = regime_row(view, result, in_time, break_even);
    for (const auto& cost : result.costs) {
      if (few) row.cells.push_back(cell_or_absent(cost));
    }
    table.rows.push_back(std::move(row));
    table.notes.push_back(result.regime.name + ": " + regime_terms(result.regime) + ".");
  }
  return table;
}

Table bill_table(const DecideView& view) {
  const auto& decision = view.decision;
  Table table{"bill",
              "What the cost consists of",
              {count_parameter(),
               decision_column("ranks_usd", "ranks", Unit::dollars, 3),
               decision_column("fixed_usd", "per hour", Unit::dollars, 3),
               decision_column("storage_usd", "storage", Unit::dollars, 3),
               decision_column("egress_usd", "egress", Unit::dollars, 3),
               decision_column("waiting_usd", "waiting, no bill", Unit::dollars, 3),
               decision_column("total_usd", "cost", Unit::dollars, 3)}};
  if (!decision.bill) return table;
  for (const auto& row : decision.shown) {
    const auto lines = lines_of(decision, row);
    table.rows.push_back({{count_cell(row.count),
                           number(lines.ranks),
                           number(lines.fixed),
                           number(lines.storage),
                           number(lines.egress),
                           number(lines.waiting),
                           number(lines.total())}});
  }
  limit_rows(table);
  return table;
}

std::string waiting_line(const DecideView& view) {
  const auto& decision = view.decision;
  if (!decision.bill || !(decision.bill->value_of_time.value() > 0.0)) return "";
  const int count = decision.rubric.chosen.value_or(decision.fastest);
  const auto lines = model::bill_lines(*decision.bill, count, decision.row(count).same_work.value);
  return fmt::format(
      "Waiting is valued at {:g} USD per hour: {} of the {} at {}. It acts exactly like a fixed "
      "price per hour, but is no bill, and a budget leaves it out.",
      hourly_price(decision.bill->value_of_time),
      decision_money(lines.waiting),
      decision_money(lines.total()),
      count);
}

}  // namespace scaleworth::report
