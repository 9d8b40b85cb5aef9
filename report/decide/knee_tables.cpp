// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

void add_notes(Table& table, const decide::KneeSet& set) {
  std::string basis = "Knees " + set.basis;
  const bool open =
      std::any_of(set.knees.begin(), set.knees.end(), [](const auto& knee) { return !knee.high; });
  if (open) basis += "; n/a: no upper end";
  table.notes.push_back(basis + ".");
  const bool beyond =
      std::any_of(set.knees.begin(), set.knees.end(), [](const auto& knee) { return knee.beyond; });
  if (beyond) {
    table.notes.push_back(
        fmt::format("Outside {} to {} nothing was measured; there the law alone speaks.",
                    set.request.smallest.value_or(1),
                    set.request.largest.value_or(1)));
  }
  if (set.kneedle.empty()) return;
  std::string compared;
  for (const decide::KneedleReading& reading : set.kneedle) {
    compared += fmt::format("{}{} over {} to {}",
                            compared.empty() ? "" : ", ",
                            reading.knee ? fmt::format("{}", *reading.knee) : "none",
                            reading.from,
                            reading.to);
  }
  table.notes.push_back(fmt::format(
      "Kneedle, for comparison only since its answer is that of the range it sees: {}.", compared));
}

}  // namespace

Table knees_table(const DecideView& view) {
  const decide::KneeSet& set = view.decision.knees;
  const bool exact = set.by_law && set.draws.empty();
  Table table{"knee",
              "Where the curve bends, by definition",
              {{"parameter", "definition", Role::parameter, Unit::plain},
               decision_column("knee_count", "count", Unit::count, {})}};
  if (set.by_law) table.columns.push_back(decision_column("knee_position", "at", Unit::plain, 2));
  if (!exact) {
    const int decimals = set.by_law ? 1 : 0;
    table.columns.push_back(decision_column("knee_low", "from", Unit::plain, decimals));
    table.columns.push_back(decision_column("knee_high", "to", Unit::plain, decimals));
  }
  for (const decide::Knee& knee : set.knees) {
    std::vector<Cell> cells{decide::knee_name(knee.kind, set.request), cell_or_absent(knee.count)};
    if (set.by_law) cells.push_back(cell_or_absent(knee.position));
    if (!exact) {
      cells.push_back(number(knee.low));
      cells.push_back(cell_or_absent(knee.high));
    }
    table.rows.push_back({std::move(cells)});
  }
  if (!table.rows.empty()) add_notes(table, set);
  return table;
}

}  // namespace scaleworth::report
