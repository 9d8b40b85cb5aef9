// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr auto communication = static_cast<std::size_t>(decide::TimePart::communication);
constexpr auto idle = static_cast<std::size_t>(decide::TimePart::idle);
constexpr std::size_t most_listed = 32;

/// "0.0539 [0.05, 0.06]" of a law's parameter.
void add_parameter(Table& table, const std::string& law, const std::string& name, Cell value) {
  table.rows.push_back({{law, name, std::move(value)}});
}

void add_contention(Table& table, const DecideView& view) {
  const std::string name = "contention-coherency";
  const auto& decision = view.decision;
  if (!decision.fit || !decision.law) return;
  const auto& law = *decision.law;
  add_parameter(
      table, name, "T1 (s)", law.single ? number(*law.single) : number(decision.fit->single));
  add_parameter(table, name, "s", law.serial ? number(*law.serial) : number(decision.fit->serial));
  add_parameter(
      table, name, "c", law.coherency ? number(*law.coherency) : number(decision.fit->coherency));
  add_parameter(table, name, "residual", number(decision.fit->residual));
  if (law.correlation)
    add_parameter(table, name, "correlation of s and c", number(*law.correlation));
  if (law.fastest) add_parameter(table, name, "fastest count", number(*law.fastest));
  if (law.cost_optimal) add_parameter(table, name, "cost-optimal count", number(*law.cost_optimal));
  if (law.cost_optimal_range) {
    add_parameter(table, name, "cost-optimal, least", number(law.cost_optimal_range->low));
    add_parameter(table, name, "cost-optimal, most", number(law.cost_optimal_range->high));
  }
}

}  // namespace

Table losses_table(const DecideView& view) {
  Table table{
      "loss",
      "Where the missing speed-up went",
      {{"count", "count", Role::parameter, Unit::count},
       decision_column("missing_folds", "folds missing", Unit::plain, 3),
       decision_column("share_communication", "communication", Unit::percent, 1),
       decision_column("share_idle", "idle", Unit::percent, 1),
       decision_column(
           "speedup_without_communication", "speed-up without communication", Unit::plain, 3),
       decision_column("speedup_without_idle", "without idle", Unit::plain, 3)}};
  for (const decide::RowLoss& loss : view.decision.losses) {
    table.rows.push_back({{number(loss.count),
                           number(loss.missing),
                           cell_or_absent(loss.share[communication]),
                           cell_or_absent(loss.share[idle]),
                           cell_or_absent(loss.without_communication),
                           cell_or_absent(loss.without_idle)},
                          table.rows.size() >= most_listed});
  }
  return table;
}

Table growth_table(const DecideView& view) {
  Table table{"growth",
              "How the parts grow with the count",
              {{"part", "part", Role::parameter, Unit::plain},
               decision_column("exponent", "exponent", Unit::plain, 2),
               decision_column("slope_s", "s per count", Unit::plain, 2),
               decision_column("intercept_s", "s at count 0", Unit::plain, 1)}};
  for (const decide::PartGrowth& growth : view.decision.growth) {
    table.rows.push_back({{std::string(decide::time_part_name(growth.part)),
                           number(growth.exponent),
                           number(growth.slope),
                           number(growth.intercept)}});
  }
  return table;
}

Table laws_table(const DecideView& view) {
  Table table{"law",
              "Laws fitted to the rows",
              {{"law", "law", Role::parameter, Unit::plain},
               {"parameter", "parameter", Role::parameter, Unit::plain},
               decision_column("value", "value", Unit::plain, {})}};
  table.columns.back().digits = 4;
  add_contention(table, view);
  if (const auto& amdahl = view.decision.amdahl) {
    const std::string name = "Amdahl, plain least squares";
    add_parameter(table, name, "s", number(amdahl->serial));
    add_parameter(table, name, "ceiling", cell_or_absent(amdahl->ceiling));
    add_parameter(
        table, name, "speed-up at the largest count", number(amdahl->predicted_at_largest));
  }
  const auto& law = view.decision.law;
  if (law && !law->basis.empty()) table.notes.push_back(law->basis + ".");
  if (law && !law->not_identifiable.empty()) {
    table.notes.push_back("Not identifiable: " + law->not_identifiable + ".");
  }
  if (!table.rows.empty()) {
    table.notes.push_back(
        "The plain fit weighs every row alike and pins the baseline; it is the one that textbooks "
        "print.");
  }
  return table;
}

Table bake_off_table(const DecideView& view) {
  Table table{"bake_off",
              "Laws held against counts that they were not fitted to",
              {{"law", "law", Role::parameter, Unit::plain},
               decision_column("held_out_error", "mean error one count ahead", Unit::percent, 1),
               decision_column("worst_error", "worst", Unit::percent, 1),
               decision_column("residual", "residual of the fit", Unit::percent, 1)}};
  if (!view.decision.bake_off) return table;
  for (const model::CandidateLaw& law : view.decision.bake_off->laws) {
    table.rows.push_back(
        {{law.name, number(law.held_out), number(law.worst), number(law.residual)}});
  }
  table.notes = {fmt::format(
      "Each count from the fifth on is predicted from the smaller ones ({} in all); the best "
      "law is the one that predicts best, whatever fits best.",
      view.decision.bake_off->forecasts)};
  return table;
}

}  // namespace scaleworth::report
