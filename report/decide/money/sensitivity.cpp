// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

std::string bound(const std::optional<double>& at, const char* open) {
  return at ? fmt::format("{:.4g}", *at) : std::string(open);
}

void add(Table& table, const decide::Sensitivity& input, std::optional<int> count) {
  const bool any = !input.low && !input.high;
  const std::string from = any ? "any" : bound(input.low, "0");
  const std::string to = any ? "any" : bound(input.high, "no end");
  table.rows.push_back({{input.name + (input.unit.empty() ? "" : " (" + input.unit + ")"),
                         fmt::format("{:.4g}", input.value),
                         cell_or_absent(count),
                         from,
                         to,
                         number(input.elasticity)}});
}

}  // namespace

Table sensitivity_table(const DecideView& view) {
  const auto& decision = view.decision;
  Table table{"sensitivity",
              "What the cheapest count hangs on",
              {{"input", "input", Role::parameter, Unit::plain},
               decision_column("input_value", "value", Unit::plain, {}),
               decision_column("stays_at", "the cheapest stays", Unit::count, {}),
               decision_column("stays_from", "from", Unit::plain, {}),
               decision_column("stays_to", "to", Unit::plain, {}),
               decision_column("elasticity", "least cost per input, % per %", Unit::plain, 3)}};
  if (!decision.choice) return table;
  for (const auto& input : decision.sensitivities) add(table, input, decision.choice->cheapest);
  const auto spot = decision.spot ? decision.spot->cheapest : std::nullopt;
  for (const auto& input : decision.spot_sensitivities) add(table, input, spot);
  table.notes = {fmt::format(
      "One input at a time, looked for between 1/{0:g} and {0:g} times its value.{1}",
      decide::sensitivity_reach,
      decision.choice->price_cancels
          ? " Nothing is paid per hour of wall clock, so that the price per rank cancels: the "
            "cheapest count does not depend on it at all."
          : "")};
  return table;
}

}  // namespace scaleworth::report
