// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::Decision;
using decide::DecisionRow;

const char* objective_words(decide::Objective objective) {
  switch (objective) {
    case decide::Objective::cost:
      return "cheapest";
    case decide::Objective::energy:
      return "most frugal";
    case decide::Objective::time:
      break;
  }
  return "fastest";
}

std::string figures(const DecideView& view, const DecisionRow& row) {
  std::string text = row.cost ? decision_money(view, row.cost->value) + ", " : "";
  text += fmt::format("{}, speed-up {:.2f}, efficiency {:.1f} %",
                      decision_time(view, row.same_work.value),
                      row.speedup.value,
                      100.0 * row.efficiency.value);
  return text;
}

/// "the cheapest of the 2 counts that pass every gate".
std::string chosen_as(const decide::RubricResult& rubric) {
  const std::string best = fmt::format("the {}", objective_words(rubric.objective));
  if (rubric.exclusions.empty()) return best;
  if (rubric.passing == 1) return "the only count that passes every gate";
  return fmt::format("{} of the {} counts that pass every gate", best, rubric.passing);
}

std::string headline(const DecideView& view, const DecisionRow& chosen) {
  const Decision& decision = view.decision;
  const std::string what = chosen_as(decision.rubric);
  if (!decision.cause) {
    return fmt::format("No recommendation; by the figures alone it would be {}, {} ({}).",
                       chosen.count,
                       what,
                       figures(view, chosen));
  }
  return fmt::format("Take {}, {}: {}.", chosen.count, what, figures(view, chosen));
}

std::string cause_line(const Decision& decision) {
  if (!decision.cause || decision.cause->mixture.empty()) return "";
  const std::string origin =
      decision.coefficients           ? "by the coefficients given"
      : decision.diagnosis.by_law     ? "by every fit that the totals allow, not "
                                        "by a measurement of the parts"
      : decision.diagnosis.by_factors ? "by the POP factors of the recordings"
                                      : "from the parts of the table";
  if (!decision.cause->owner.empty()) {
    return fmt::format("The gap from ideal at {} is {}, {:.1f} % of it ({}).",
                       decision.cause_count,
                       decision.cause->owner,
                       100.0 * decision.cause->explained,
                       origin);
  }
  return fmt::format("The gap from ideal at {} has no single owner (none explains 80 %): {} ({}).",
                     decision.cause_count,
                     mixture_text(*decision.cause),
                     origin);
}

std::string plateau_line(const Decision& decision) {
  if (!decision.choice || decision.choice->plateau.size() < 2) return "";
  return fmt::format("As cheap as {} within 1 % or within the intervals: {}.",
                     decision.choice->cheapest,
                     count_ranges(decision.choice->plateau));
}

std::string speed_line(const DecideView& view) {
  const Decision& decision = view.decision;
  if (!decision.choice || decision.choice->cheapest == decision.choice->fastest) return "";
  return fmt::format("Cost-optimal {} ({}), fastest {} ({}): the price of pure speed is {}.",
                     decision.choice->cheapest,
                     decision_money(view, decision.row(decision.choice->cheapest).cost->value),
                     decision.choice->fastest,
                     decision_money(view, decision.row(decision.choice->fastest).cost->value),
                     decision_money(view, decision.choice->price_of_speed));
}

std::string quality_line(const Decision& decision) {
  const auto& rubric = decision.rubric;
  std::string text;
  if (rubric.quality_held && rubric.quality_drift) {
    text = fmt::format("Quality {} (largest difference {:.3g}).",
                       *rubric.quality_held ? "held" : "did not hold",
                       *rubric.quality_drift);
  }
  if (!rubric.unproven.empty()) {
    text += fmt::format("{}Unproven, for they have no quality: {}.",
                        text.empty() ? "" : " ",
                        count_ranges(rubric.unproven));
  }
  return text;
}

}  // namespace

Verdict judge_decision(const DecideView& view) {
  const Decision& decision = view.decision;
  Verdict verdict;
  std::vector<std::string>& lines = verdict.lines;
  if (decision.rubric.chosen) {
    const DecisionRow& chosen = decision.row(*decision.rubric.chosen);
    verdict.headline = headline(view, chosen);
    verdict.answer = decision.cause ? Answer::yes : Answer::unknown;
    if (!decision.cause) lines.push_back(fmt::format("Not recommended: {}.", decision.no_cause));
    lines.push_back(gives_up_line(view));
    lines.push_back(doubt_of_deadline_line(view));
    lines.push_back(forecast_line(view));
  } else {
    verdict.answer = Answer::no;
    verdict.headline = "No count passes every gate.";
    lines.push_back(deadline_line(view));
    lines.push_back(forecast_line(view));
  }
  for (const decide::Exclusion& exclusion : decision.rubric.exclusions) {
    lines.push_back(
        fmt::format("Excluded, {}: {}.", exclusion.reason, count_ranges(exclusion.counts)));
  }
  lines.push_back(cause_line(decision));
  lines.push_back(culprit_line(view));
  lines.push_back(factor_line(view));
  lines.push_back(latency_line(view));
  lines.push_back(remedy_line(view));
  lines.push_back(plateau_line(decision));
  lines.push_back(speed_line(view));
  lines.push_back(waiting_worth_line(view));
  lines.push_back(quality_line(decision));
  for (const std::string& line : spot_lines(view)) lines.push_back(line);
  lines.push_back(waiting_line(view));
  lines.push_back(energy_line(view));
  std::erase(lines, "");
  return verdict;
}

}  // namespace scaleworth::report
