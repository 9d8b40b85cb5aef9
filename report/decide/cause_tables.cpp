// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr std::size_t most_listed = 32;

struct PartColumn {
  decide::TimePart part;
  bool always;
};

constexpr std::array part_columns{PartColumn{decide::TimePart::communication, true},
                                  PartColumn{decide::TimePart::idle, true},
                                  PartColumn{decide::TimePart::host, false},
                                  PartColumn{decide::TimePart::io, false}};

void add_shares(Table& table, const std::vector<decide::RowLoss>& losses) {
  for (const PartColumn& column : part_columns) {
    const auto i = static_cast<std::size_t>(column.part);
    const bool any =
        std::any_of(losses.begin(), losses.end(), [&](const auto& loss) { return loss.share[i]; });
    if (!any && !column.always) continue;
    const std::string name = decide::time_part_name(column.part);
    table.columns.push_back(decision_column("share_" + name, name, Unit::percent, 1));
    for (std::size_t row = 0; row < losses.size(); ++row) {
      table.rows[row].cells.push_back(cell_or_absent(losses[row].share[i]));
    }
  }
}

}  // namespace

Table losses_table(const DecideView& view) {
  const auto& losses = view.decision.losses;
  Table table{"loss",
              "Where the missing speed-up went",
              {{"count", "count", Role::parameter, Unit::count},
               decision_column("missing_folds", "folds missing", Unit::plain, 3)}};
  for (const decide::RowLoss& loss : losses) {
    table.rows.push_back(
        {{number(loss.count), number(loss.missing)}, table.rows.size() >= most_listed});
  }
  add_shares(table, losses);
  table.columns.push_back(decision_column(
      "speedup_without_communication", "speed-up without communication", Unit::plain, 3));
  table.columns.push_back(decision_column("speedup_without_idle", "without idle", Unit::plain, 3));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    table.rows[i].cells.push_back(cell_or_absent(losses[i].without_communication));
    table.rows[i].cells.push_back(cell_or_absent(losses[i].without_idle));
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

}  // namespace scaleworth::report
