// SPDX-License-Identifier: Apache-2.0
#include "report/verdict.h"

#include "report/names.h"
#include "report/quantity.h"
#include "src/core/statistics/ratio.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::ScalingResult;
using model::ScalingRow;

/// Going from one measured count to the next.
struct Increment {
  const ScalingRow* from = nullptr;
  const ScalingRow* to = nullptr;
  Number gain;
  double threshold = 1.0;
  Answer pays = Answer::unknown;
};

bool comparable(const Estimate<Seconds>& step) {
  return std::isfinite(step.value.value()) && step.value > Seconds(0.0);
}

Increment increment(const ScalingRow& from, const ScalingRow& to) {
  Increment result{&from, &to, ratio(number(from.step), number(to.step)), 1.0, Answer::unknown};
  result.threshold = std::sqrt(static_cast<double>(to.ranks) / from.ranks);
  if (result.gain.interval && result.gain.interval->low > result.threshold) {
    result.pays = Answer::yes;
  } else if (result.gain.interval && result.gain.interval->high < result.threshold) {
    result.pays = Answer::no;
  }
  return result;
}

/// "2 ranks run the same step 1.83 ± 0.02 times as fast as 1 rank, for 1.09 times the rank time per
/// token".
std::string comparison(const Increment& step) {
  const Number cost = transform_decreasing(
      step.gain, [&](double g) { return step.to->ranks / (step.from->ranks * g); });
  return fmt::format(
      "{} run the same step {} times as fast as {}, for {} times the rank-seconds per token",
      ranks_phrase(step.to->ranks),
      format_quantity(step.gain, Unit::plain),
      ranks_phrase(step.from->ranks),
      format_quantity(cost, Unit::plain));
}

std::string rule(const Increment& step) {
  return fmt::format(
      "Rule: more ranks must save more time than they add cost: a speed-up surely above "
      "sqrt({}/{}) "
      "= {:.2f}.",
      step.to->ranks,
      step.from->ranks,
      step.threshold);
}

void judge_counts(const ScalingResult& strong, Verdict& verdict) {
  const ScalingRow* best = &strong.rows.front();
  for (std::size_t i = 1; i < strong.rows.size(); ++i) {
    const Increment step = increment(*best, strong.rows[i]);
    if (step.pays == Answer::yes) {
      best = &strong.rows[i];
      continue;
    }
    const bool first = best == &strong.rows.front();
    const char* how = step.pays == Answer::no ? "not" : "not known";
    verdict.answer = first ? step.pays : Answer::yes;
    if (!first) {
      verdict.headline = fmt::format("Yes up to {}, {} beyond: ", ranks_phrase(best->ranks), how);
    } else {
      verdict.headline =
          step.pays == Answer::no ? "No: " : "Not known, the measurement cannot tell: ";
    }
    verdict.headline += comparison(step) + ".";
    verdict.lines.push_back(rule(step));
    return;
  }
  const Increment whole = increment(strong.rows.front(), *best);
  verdict.answer = Answer::yes;
  verdict.headline = fmt::format(
      "Yes, up to {} (the most measured): {}.", ranks_phrase(best->ranks), comparison(whole));
  verdict.lines.push_back(rule(whole));
}

std::string cause_line(const ScalingResult& strong) {
  const auto& cause = *strong.cause;
  std::string line;
  if (cause.owner.empty()) {
    line = "Loss against ideal: no single part explains 80 % of it";
    line += cause.mixture.empty()
                ? std::string(".")
                : fmt::format("; the largest is {} with {}.",
                              words(cause.mixture.front().first),
                              format_quantity(number(cause.mixture.front().second), Unit::percent));
  } else {
    line = fmt::format(
        "Loss against ideal: {:.0f} % is {}.", 100.0 * cause.explained, words(cause.owner));
  }
  if (cause.culprit_rank) {
    line += fmt::format(" The others wait for rank {}", *cause.culprit_rank);
    line += cause.culprit_cost
                ? fmt::format(" ({} per step in all).",
                              format_quantity(number(*cause.culprit_cost), Unit::seconds))
                : std::string(".");
  }
  return line;
}

/// Largest count up to which every doubling along the curve is worth it; `whole_band` asks that of
/// the whole interval. 1 when the first doubling is not.
int doubling_pays_up_to(const model::ScalingLaw& law, bool whole_band) {
  const auto at = [&law](int ranks) {
    return std::find_if(law.curve.begin(), law.curve.end(), [ranks](const auto& point) {
      return point.ranks == ranks;
    });
  };
  int ranks = 1;
  for (auto from = at(1), to = at(2); from != law.curve.end() && to != law.curve.end();
       from = to, to = at(2 * ranks)) {
    if (!comparable(from->step) || !comparable(to->step)) {
      break;
    }
    const Number step_gain = ratio(number(from->step), number(to->step));
    const double surely = step_gain.interval ? step_gain.interval->low : 0.0;
    if ((whole_band ? surely : step_gain.value) <= std::sqrt(2.0)) {
      break;
    }
    ranks = to->ranks;
  }
  return ranks;
}

std::string optimum_line(const model::ScalingLaw& law, int most_measured) {
  const int central = doubling_pays_up_to(law, false);
  const int sure = doubling_pays_up_to(law, true);
  std::string line = law.prediction ? "Predicted: " : "Fitted law: ";
  line += central == 1 ? std::string("no doubling pays")
                       : "doubling pays up to " + ranks_phrase(central);
  line += sure < central ? fmt::format(" (surely up to {})", sure) : "";
  if (law.fastest) {
    const bool open_end = *law.fastest == law.curve.back().ranks;
    line += fmt::format(
        "; fastest at {}{}", ranks_phrase(*law.fastest), open_end ? " (end of range)" : "");
  }
  if (law.cost_optimal) {
    line += fmt::format("; cheapest at {}", ranks_phrase(*law.cost_optimal));
    const auto& range = law.cost_optimal_range;
    line +=
        range && range->low < range->high ? fmt::format(" [{}, {}]", range->low, range->high) : "";
  }
  line += fmt::format("; extrapolated beyond {}.", ranks_phrase(most_measured));
  return law.reproduces_measured ? line
                                 : line + " It misses the measured counts: use it with care.";
}

std::string cost_line(const ScalingResult& strong, const model::AnalysisOptions& assumptions) {
  if (!assumptions.price_per_rank) {
    return "Cost: add --price USD_PER_RANK_HOUR to turn rank-seconds into money.";
  }
  std::string line = fmt::format("Cost per million tokens at {:g} USD per rank-hour:",
                                 assumptions.price_per_rank->value() * 3600.0);
  const char* separator = " ";
  for (const ScalingRow& row : strong.rows) {
    const auto& cost = row.cost_per_million_tokens;
    line +=
        separator +
        (cost ? format_quantity(in_proportion(cost->value(), row.step), Unit::dollars) : "n/a") +
        " at " + ranks_phrase(row.ranks);
    separator = ", ";
  }
  return line + ".";
}

Verdict judge_scaling(const model::Analysis& analysis, const model::AnalysisOptions& assumptions) {
  Verdict verdict;
  if (analysis.scaling.empty()) {
    verdict.headline =
        "No answer: without a training step at two counts this run tells what the machine can do, "
        "not whether more of it is worth the money.";
    return verdict;
  }
  const auto strong = std::find_if(
      analysis.scaling.begin(), analysis.scaling.end(), [](const ScalingResult& result) {
        return result.mode == "strong";
      });
  if (strong == analysis.scaling.end() || strong->rows.size() < 2) {
    verdict.headline =
        "Not known: not enough data, the training step was not measured at two rank counts with "
        "the same total work.";
    return verdict;
  }
  if (!std::all_of(strong->rows.begin(), strong->rows.end(), [](const ScalingRow& row) {
        return comparable(row.step);
      })) {
    verdict.headline = "Not known: a step time is not a positive number.";
    return verdict;
  }
  if (!strong->quality_held) {
    verdict.headline = "Not known: the counts did not do the same work";
    verdict.headline += strong->quality_note.empty() ? "." : " (" + strong->quality_note + ").";
    return verdict;
  }
  judge_counts(*strong, verdict);
  if (strong->cause) {
    verdict.lines.push_back(cause_line(*strong));
  } else if (!strong->cause_note.empty()) {
    verdict.lines.push_back("Loss against ideal: no cause named, " + strong->cause_note + ".");
  }
  for (const auto& law : strong->laws) {
    if (!law.curve.empty()) {
      verdict.lines.push_back(optimum_line(law, strong->rows.back().ranks));
    }
  }
  verdict.lines.push_back(cost_line(*strong, assumptions));
  return verdict;
}

/// How many doubts there are; absent for none.
std::optional<std::string> doubts_line(const model::Analysis& analysis) {
  const auto doubts = std::count_if(analysis.findings.begin(),
                                    analysis.findings.end(),
                                    [](const model::Finding& finding) { return finding.doubt; });
  if (doubts == 0) return std::nullopt;
  return fmt::format(
      "{} about this measurement: read {} under Doubts before you rely on it "
      "(--details).",
      doubts == 1 ? "1 doubt" : fmt::format("{} doubts", doubts),
      doubts == 1 ? "it" : "them");
}

}  // namespace

Verdict judge(const model::Analysis& analysis, const model::AnalysisOptions& assumptions) {
  Verdict verdict = judge_scaling(analysis, assumptions);
  if (auto doubts = doubts_line(analysis)) verdict.lines.push_back(std::move(*doubts));
  return verdict;
}

}  // namespace scaleworth::report
