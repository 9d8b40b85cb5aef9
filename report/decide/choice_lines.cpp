// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using decide::DecisionRow;

/// "0.045 h against the fastest (25, for 2.266 USD more)"; empty where it is the fastest.
std::string slower(const DecideView& view, const DecisionRow& chosen, const DecisionRow& fastest) {
  const Seconds later = chosen.same_work.value - fastest.same_work.value;
  if (!(later.value() > 0.0)) return "";
  std::string text =
      fmt::format("{} against the fastest ({}", decision_time(view, later), fastest.count);
  if (chosen.cost && fastest.cost) {
    const double more = fastest.cost->value.value() - chosen.cost->value.value();
    text += fmt::format(
        ", for {} {}", decision_money(view, Dollars(std::abs(more))), more < 0.0 ? "less" : "more");
  }
  return text + ")";
}

/// "0.006 USD against the cheapest (8, 0.012 h later)"; empty where it is the cheapest.
std::string dearer(const DecideView& view, const DecisionRow& chosen, const DecisionRow& cheapest) {
  const Dollars more = chosen.cost->value - cheapest.cost->value;
  if (!(more.value() > 0.0)) return "";
  const Seconds later = cheapest.same_work.value - chosen.same_work.value;
  return fmt::format("{} against the cheapest ({}, {} {})",
                     decision_money(view, more),
                     cheapest.count,
                     decision_time(view, Seconds(std::abs(later.value()))),
                     later.value() < 0.0 ? "sooner" : "later");
}

}  // namespace

std::string gives_up_line(const DecideView& view) {
  const auto& decision = view.decision;
  const DecisionRow& chosen = decision.row(*decision.rubric.chosen);
  const std::string time = slower(view, chosen, decision.row(decision.fastest));
  if (!decision.choice) {
    return time.empty() ? "No count is faster." : fmt::format("It gives up {}.", time);
  }
  const std::string money = dearer(view, chosen, decision.row(decision.choice->cheapest));
  if (time.empty() && money.empty()) return "It is the fastest and the cheapest.";
  if (time.empty()) return fmt::format("It is the fastest, and gives up {}.", money);
  if (money.empty()) return fmt::format("It is the cheapest, and gives up {}.", time);
  return fmt::format("It gives up {} and {}.", time, money);
}

std::string waiting_worth_line(const DecideView& view) {
  constexpr std::size_t most_named = 4;
  const auto& decision = view.decision;
  const auto& worth = decision.waiting;
  const bool by_cost = decision.rubric.objective == decide::Objective::cost;
  if (worth.size() < 2 || !by_cost || !decision.choice->price_cancels) return "";
  std::string text;
  for (std::size_t i = 1; i < worth.size(); ++i) {
    if (i > most_named && i + 1 < worth.size()) continue;
    text += fmt::format("{}{} from {} an hour",
                        i == 1 ? "" : ", ",
                        worth[i].count,
                        decision_money(Dollars(hourly_price(worth[i].from))));
  }
  return fmt::format(
      "Waiting counts for nothing in this choice. Were it worth something (--value-of-time), the "
      "choice would be {}.",
      text);
}

std::string deadline_line(const DecideView& view) {
  const auto& decision = view.decision;
  const auto& deadline = view.options.rubric.deadline;
  if (decision.rubric.chosen || !deadline) return "";
  const DecisionRow& fastest = decision.row(decision.fastest);
  const auto& interval = fastest.same_work.interval;
  const Seconds latest = interval ? interval->high : fastest.same_work.value;
  if (latest <= *deadline) return "";
  return fmt::format("No {}count meets the deadline of {}: the fastest, {}, takes {}{}.",
                     decision.coefficients ? "" : "measured ",
                     decision_time(view, *deadline),
                     fastest.count,
                     interval ? "up to " : "",
                     decision_time(view, latest));
}

std::string gate_mark(const decide::Decision& decision, int count) {
  const auto holds = [count](const std::vector<int>& counts) {
    return std::find(counts.begin(), counts.end(), count) != counts.end();
  };
  for (const decide::Exclusion& exclusion : decision.rubric.exclusions) {
    if (holds(exclusion.counts)) return exclusion.mark;
  }
  return holds(decision.rubric.unproven) ? "unproven" : "passes";
}

}  // namespace scaleworth::report
