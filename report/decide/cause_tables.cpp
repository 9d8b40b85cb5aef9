// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr auto communication = static_cast<std::size_t>(decide::TimePart::communication);
constexpr auto idle = static_cast<std::size_t>(decide::TimePart::idle);
constexpr std::size_t most_listed = 32;

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

}  // namespace scaleworth::report
