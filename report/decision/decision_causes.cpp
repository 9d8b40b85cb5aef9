// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
using decide::Cause;

constexpr std::size_t most_listed = 32;
constexpr std::array causes{Cause::serial,
                            Cause::communication,
                            Cause::overhead,
                            Cause::idle,
                            Cause::host,
                            Cause::io,
                            Cause::slowdown};

const decide::CauseLoss* loss_of(const decide::Gap& gap, Cause cause) {
  const auto found = std::find_if(
      gap.losses.begin(), gap.losses.end(), [&](const auto& loss) { return loss.cause == cause; });
  return found == gap.losses.end() ? nullptr : &*found;
}

Number share_of(const decide::CauseLoss& loss) {
  Number share = number(loss.share);
  if (loss.spread) share.interval = loss.spread;
  return share;
}

void add_shares(Table& table, const std::vector<decide::Gap>& gaps, Cause cause) {
  const bool any = std::any_of(gaps.begin(), gaps.end(), [&](const decide::Gap& gap) {
    return loss_of(gap, cause) != nullptr;
  });
  if (!any) return;
  const std::string name = decide::cause_name(cause);
  table.columns.push_back(decision_column("gap_share_" + name, name, Unit::percent, 1));
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const decide::CauseLoss* loss = loss_of(gaps[i], cause);
    table.rows[i].cells.push_back(loss ? Cell{share_of(*loss)} : Cell{number(0.0)});
  }
}

bool has_spread(const decide::Gap& gap) {
  return std::any_of(gap.losses.begin(), gap.losses.end(), [](const decide::CauseLoss& loss) {
    return loss.spread.has_value();
  });
}

Table gaps_by_cause(const std::string& id,
                    const std::string& title,
                    const std::vector<decide::Gap>& gaps) {
  Table table{id,
              title,
              {{"count", "count", Role::parameter, Unit::count},
               decision_column("gap_s", "lost", Unit::seconds, {})}};
  for (const decide::Gap& gap : gaps) {
    table.rows.push_back(
        {{number(gap.count), number(gap.lost_s)}, table.rows.size() >= most_listed});
  }
  for (const Cause cause : causes) add_shares(table, gaps, cause);
  const bool latency = std::any_of(
      gaps.begin(), gaps.end(), [](const decide::Gap& gap) { return gap.latency_share; });
  if (latency) {
    table.columns.push_back(
        decision_column("latency_share", "of communication: latency", Unit::percent, 1));
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      table.rows[i].cells.push_back(cell_or_absent(gaps[i].latency_share));
    }
  }
  if (!gaps.empty() && has_spread(gaps.back())) {
    table.notes = {
        "The range of a share is what the counts do not refute; each of its ends is passed by "
        "one table in ten."};
  }
  return table;
}
}  // namespace

Table gap_table(const DecideView& view) {
  return gaps_by_cause(
      "gap", "The gap from ideal at each count, by cause", view.decision.diagnosis.gaps);
}

Table factor_gap_table(const DecideView& view) {
  Table table =
      gaps_by_cause("factor_gap",
                    "The gap from ideal at each count, by the POP factors of the recordings",
                    view.decision.diagnosis.factor_gaps);
  if (!table.rows.empty()) {
    table.notes = {
        "A factor against the baseline's: load balance and dependency are idle, host is host, "
        "transfer is communication, the growth of the useful time is compute slow-down."};
  }
  return table;
}

Table fits_table(const DecideView& view) {
  const auto& spread = view.decision.diagnosis.spread;
  Table table{"fit",
              "",
              {{"law", "fit", Role::parameter, Unit::plain},
               decision_column("fit_s", "s", Unit::plain, 4),
               decision_column("serial_folds", "serial", Unit::plain, 2),
               decision_column("serial_part", "serial", Unit::percent, 1),
               decision_column("overhead_folds", "overhead", Unit::plain, 2),
               decision_column("overhead_part", "overhead", Unit::percent, 1),
               decision_column("unexplained_folds", "rest", Unit::plain, 2),
               decision_column("serial_seconds_part", "serial seconds", Unit::percent, 1),
               decision_column("fit_residual", "residual", Unit::percent, 1),
               decision_column("fit_holds", "holds", Unit::plain, {})}};
  if (!spread || !(spread->missing > 0.0)) return table;
  table.title = fmt::format(
      "Folds missing at {} ({:.2f}), by the choice of fit", spread->count, spread->missing);
  for (const decide::LawReading& one : spread->readings) {
    table.rows.push_back({{one.fit,
                           number(one.serial),
                           number(one.serial_folds),
                           number(one.serial_folds / spread->missing),
                           number(one.overhead_folds),
                           number(one.overhead_folds / spread->missing),
                           number(one.unexplained_folds),
                           number(one.serial_share),
                           number(one.residual),
                           std::string(one.holds ? "yes" : "no")}});
  }
  table.notes = {
      "By least relative squares with T1 free, but for the plain one. Serial work is taken away "
      "first; what a law without an overhead leaves counts as overhead. "
      "A fit that does not hold leaves more than the noise of the rows."};
  if (spread->serial_share) {
    table.notes.push_back(
        fmt::format("Serial share of the lost seconds by the fits that hold and 95 % of their "
                    "draws: {:.0f} % to {:.0f} %.",
                    100.0 * spread->serial_share->low,
                    100.0 * spread->serial_share->high));
  }
  return table;
}

Table remedies_table(const DecideView& view) {
  const auto& remedies = view.decision.diagnosis.remedies;
  const decide::KneeSet& set = view.decision.knees;
  const bool exact = set.by_law && set.draws.empty();
  Table table{"remedy",
              "",
              {{"parameter", "change", Role::parameter, Unit::plain},
               decision_column("remedy_count", "count", Unit::count, {})}};
  if (remedies.empty()) return table;
  const decide::Knee& before = remedies.front().before;
  table.title = fmt::format("What would move the {} from {}",
                            judged_knee(set),
                            before.count ? fmt::format("{}", *before.count) : "beyond every count");
  if (set.by_law) table.columns.push_back(decision_column("remedy_at", "at", Unit::plain, 2));
  if (!exact) {
    const int decimals = set.by_law ? 1 : 0;
    table.columns.push_back(decision_column("remedy_low", "from", Unit::plain, decimals));
    table.columns.push_back(decision_column("remedy_high", "to", Unit::plain, decimals));
  }
  const bool cost = before.kind == decide::KneeKind::cost;
  table.columns.push_back(decision_column(
      "remedy_saves", cost ? "saves of the cost" : "saves of the time at it", Unit::percent, 1));
  table.columns.push_back(decision_column("remedy_moves", "moves it", Unit::plain, {}));
  for (const decide::Remedy& remedy : remedies) {
    std::vector<Cell> cells{std::string(decide::remedy_change(remedy.cause)),
                            cell_or_absent(remedy.after.count)};
    if (set.by_law) cells.push_back(cell_or_absent(remedy.after.position));
    if (!exact) {
      cells.push_back(number(remedy.after.low));
      cells.push_back(cell_or_absent(remedy.after.high));
    }
    cells.push_back(cell_or_absent(remedy.saved));
    cells.push_back(std::string(!remedy.moves ? "not known" : *remedy.moves ? "yes" : "no"));
    table.rows.push_back({std::move(cells)});
  }
  return table;
}

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
