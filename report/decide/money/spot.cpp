// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr double seconds_per_hour = 3600.0;

const model::SpotCount& at_count(const DecideView& view, int count) {
  const auto& counts = view.decision.spot->counts;
  return *std::find_if(
      counts.begin(), counts.end(), [&](const auto& one) { return one.ranks == count; });
}

std::string expected(const model::SpotCount& at) {
  return fmt::format("expected {} and {:.3f} h",
                     decision_money(*at.cost),
                     at.plan->expected.value() / seconds_per_hour);
}

std::string chance(const model::SpotCount& at) {
  return fmt::format("{:.1f} %", 100.0 * at.in_time.value_or(0.0));
}

std::string in_time_line(const DecideView& view) {
  const model::SpotChoice& spot = *view.decision.spot;
  const double wanted = 100.0 * view.options.rubric.deadline_probability;
  if (!spot.cheapest_in_time) {
    const auto& surest = at_count(view, *spot.surest);
    return fmt::format(
        "On spot no count meets the deadline with a probability of {:g} %: the surest, {}, has {}.",
        wanted,
        surest.ranks,
        chance(surest));
  }
  const auto& best = at_count(view, *spot.cheapest_in_time);
  std::string text = fmt::format(
      "On spot the cheapest that meets the deadline with a probability of {:g} % or more is {} "
      "({}): {}",
      wanted,
      best.ranks,
      chance(best),
      expected(best));
  if (best.ranks == *spot.cheapest) return text + ".";
  const auto& cheapest = at_count(view, *spot.cheapest);
  return fmt::format(
      "{}; the cheapest of all, {}, meets it with {}.", text, cheapest.ranks, chance(cheapest));
}

std::vector<Column> columns(bool deadline) {
  std::vector<Column> all{
      count_parameter(),
      decision_column("expected_h", "expected", Unit::hours, 3),
      decision_column("overhead", "longer by", Unit::percent, 1),
      decision_column("checkpoint_every_s", "work between checkpoints", Unit::seconds, {}),
      decision_column("segments", "segments", Unit::count, {}),
      decision_column("expected_usd", "expected cost", Unit::dollars, 3)};
  if (deadline) all.push_back(decision_column("in_time", "in time", Unit::percent, 1));
  return all;
}

Row spot_row(const model::SpotCount& at, bool deadline) {
  Row row{{count_cell(at.ranks), Cell{}, Cell{}, Cell{}, Cell{}, Cell{}}};
  if (at.plan) {
    row.cells = {count_cell(at.ranks),
                 number(at.plan->expected.value() / seconds_per_hour),
                 number(at.plan->overhead),
                 number(at.plan->interval),
                 count_cell(at.plan->segments),
                 number(*at.cost)};
  }
  if (deadline) row.cells.push_back(cell_or_absent(at.in_time));
  return row;
}

}  // namespace

std::vector<std::string> spot_lines(const DecideView& view) {
  const auto& spot = view.decision.spot;
  if (!spot) return {};
  if (!spot->cheapest) return {"On spot no count is expected to finish."};
  if (view.options.rubric.deadline) return {in_time_line(view)};
  const auto& at = at_count(view, *spot->cheapest);
  return {fmt::format("On spot the cheapest is {}: {}.", at.ranks, expected(at))};
}

Table spot_table(const DecideView& view) {
  const bool deadline = view.options.rubric.deadline.has_value();
  Table table{"spot", "On machines that may be taken away", columns(deadline)};
  if (!view.decision.spot || !view.options.spot_terms) return table;
  for (const auto& row : view.decision.shown) {
    table.rows.push_back(spot_row(at_count(view, row.count), deadline));
  }
  const model::Preemption& terms = view.options.spot_terms->preemption;
  table.notes = {fmt::format(
      "Poisson reclaims of {:g} per rank and hour, one ends the segment; checkpoint {:g} s, "
      "restart {:g} s, notice {:g} s (--checkpoint-s, --restart-s, --notice-s).{} n/a: does not "
      "finish.",
      terms.per_hour,
      terms.checkpoint.value(),
      terms.restart.value(),
      terms.notice.value(),
      deadline ? " In time: the chance of meeting the deadline, by "
                 "numerical inversion of this process's transform (to 0.001)."
               : "")};
  limit_rows(table);
  return table;
}

}  // namespace scaleworth::report
