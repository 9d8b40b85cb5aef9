// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

std::string count_or_never(const decide::Knee& knee) {
  return knee.count ? fmt::format("{}", *knee.count) : "beyond every count";
}

/// A whole count of the kind: thresholds are still met below their position.
int whole(double position, decide::KneeKind kind) {
  const bool threshold = kind == decide::KneeKind::efficiency || kind == decide::KneeKind::slope;
  return static_cast<int>(threshold ? std::floor(position) : std::round(position));
}

/// "11 [10, 12], beyond what was measured"; no interval where it is one count.
std::string with_range(const decide::Knee& knee, bool by_draws) {
  std::string text = count_or_never(knee);
  const int low = whole(knee.low, knee.kind);
  const auto high = knee.high ? std::optional<int>(whole(*knee.high, knee.kind)) : std::nullopt;
  if (by_draws && low != high) {
    text += fmt::format(" [{}, {}]", low, high ? fmt::format("{}", *high) : "open");
  }
  return text + (knee.beyond && knee.count ? ", beyond what was measured" : "");
}

std::string saving(const decide::Remedy& remedy) {
  if (!remedy.saved || *remedy.saved < 0.0005) return "";
  const bool cost = remedy.before.kind == decide::KneeKind::cost;
  return fmt::format(" ({:.1f} % {})", 100.0 * *remedy.saved, cost ? "cheaper" : "less time at it");
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Of a knee that may lie beyond the largest count, with or without a change.
std::string open_line(const DecideView& view) {
  const auto& remedies = view.decision.diagnosis.remedies;
  std::vector<std::string> savings;
  for (const decide::Remedy& remedy : remedies) {
    const std::string saved = saving(remedy);
    if (!saved.empty()) savings.push_back(decide::remedy_change(remedy.cause) + saved);
  }
  const std::string text = fmt::format(
      "The {} is {} or beyond it, the largest count: what would move it needs a larger one.",
      judged_knee(view.decision.knees),
      *remedies.front().before.count);
  return savings.empty()
             ? text
             : fmt::format("{} At {}: {}.", text, *remedies.front().before.count, joined(savings));
}

}  // namespace

std::string judged_knee(const decide::KneeSet& knees) {
  const decide::KneeKind kind = decide::judged_by(knees.request);
  if (kind == decide::KneeKind::cost) return "cost optimum";
  return "knee at " + decide::knee_name(kind, knees.request);
}

std::string remedy_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  if (diagnosis.remedies.empty()) return "";
  const decide::Remedy& best = diagnosis.remedies.front();
  const std::string knee = judged_knee(view.decision.knees);
  const std::string by = diagnosis.cause ? "" : "By the law with c alone: ";
  const bool by_draws = !view.decision.knees.draws.empty();
  std::vector<std::string> others;
  std::vector<std::string> useless;
  for (const decide::Remedy& remedy : diagnosis.remedies) {
    const std::string change = decide::remedy_change(remedy.cause);
    if (remedy.moves == false) useless.push_back(change);
    if (remedy.moves == true && &remedy != &best) {
      others.push_back(fmt::format("{} (to {})", change, with_range(remedy.after, by_draws)));
    }
  }
  if (!best.moves) return open_line(view);
  if (!*best.moves) {
    return fmt::format("{}No single change moves the {} from {}: {}.",
                       by,
                       knee,
                       count_or_never(best.before),
                       joined(useless));
  }
  const auto latency =
      diagnosis.decisive ? diagnosis.decisive->latency_share : std::optional<double>();
  std::string text = fmt::format("{}{} would move the {} from {} to {}{}: {}.",
                                 by,
                                 decide::remedy_change(best.cause),
                                 knee,
                                 count_or_never(best.before),
                                 with_range(best.after, by_draws),
                                 saving(best),
                                 decide::remedy_means(best.cause, latency));
  if (by.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  if (!others.empty()) text += fmt::format(" Next: {}.", joined(others));
  if (!useless.empty()) text += fmt::format(" Would not: {}.", joined(useless));
  return text;
}

std::string latency_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  if (!diagnosis.message || !diagnosis.decisive || !diagnosis.decisive->latency_share) return "";
  const decide::Gap& gap = *diagnosis.decisive;
  const Bytes balanced = decide::balanced_message(*diagnosis.message, gap.count);
  return fmt::format(
      "A ring's communication at {} is {:.0f} % latency and {:.0f} % bandwidth by the terms given; "
      "they are equal at messages of {:.3g} MB.",
      gap.count,
      100.0 * *gap.latency_share,
      100.0 * (1.0 - *gap.latency_share),
      balanced.value() / 1e6);
}

}  // namespace scaleworth::report
