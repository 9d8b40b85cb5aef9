// SPDX-License-Identifier: Apache-2.0
#include "src/model/findings/sentences.h"
#include "src/model/mfu/mfu.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

std::string dollars_text(Dollars amount) {
  // Three digits as a person writes money, without an exponent.
  const double size = std::abs(amount.value());
  const int decimals =
      size > 0.0 ? std::max(2, 2 - static_cast<int>(std::floor(std::log10(size)))) : 2;
  return fmt::format("${:.{}f}", amount.value(), decimals);
}

std::string weak_sentence(const ScalingResult& scaling) {
  const ScalingRow& first = scaling.rows.front();
  const ScalingRow& last = scaling.rows.back();
  return fmt::format("Weak scaling from {} to {}: efficiency {} %, a step takes {} instead of {}.",
                     ranks_text(first.ranks),
                     last.ranks,
                     estimate_text(*last.efficiency, 100.0),
                     time_text(last.step.value),
                     time_text(first.step.value));
}

std::string mixture_text(const ScalingCause& cause) {
  std::string text;
  for (const auto& [part, share] : cause.mixture) {
    // Below half a per cent a part would be printed as 0 %.
    if (share < 0.005) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", part, 100.0 * share);
  }
  return text;
}

std::string cause_sentence(const ScalingResult& scaling) {
  const int ranks = scaling.rows.back().ranks;
  const ScalingCause& cause = *scaling.cause;
  std::string text =
      cause.owner.empty()
          ? fmt::format("No single part explains 80 % of the {} loss at {} ranks: {}.",
                        scaling.mode,
                        ranks,
                        mixture_text(cause))
          : fmt::format("The {} loss at {} ranks is {}: it explains {:.0f} %.",
                        scaling.mode,
                        ranks,
                        cause.owner,
                        100.0 * cause.explained);
  if (cause.culprit_rank && cause.culprit_cost) {
    text += fmt::format(" The others wait for rank {}, {} per step in all.",
                        *cause.culprit_rank,
                        time_text(*cause.culprit_cost));
  }
  return text;
}

std::string plateau_text(const std::vector<int>& plateau) {
  std::string text;
  for (const int ranks : plateau) text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks);
  return text;
}

std::string cost_sentence(const ScalingResult& scaling) {
  const CostChoice& cost = *scaling.cost;
  std::string text = fmt::format(
      "Cheapest measured count ({} scaling): {}", scaling.mode, ranks_text(cost.cheapest));
  for (const ScalingRow& row : scaling.rows) {
    if (row.ranks == cost.cheapest && row.cost_per_million_tokens) {
      text += fmt::format(" at {} per million tokens", dollars_text(*row.cost_per_million_tokens));
    }
  }
  if (cost.plateau.size() > 1) {
    text += fmt::format(" (no dearer within 1 % or the error: {})", plateau_text(cost.plateau));
  }
  text += cost.fastest == cost.cheapest ? ", which is also the fastest."
                                        : fmt::format("; the fastest, {}, costs {} more.",
                                                      ranks_text(cost.fastest),
                                                      dollars_text(cost.price_of_speed));
  if (cost.price_cancels) {
    text += " Without a price per hour of wall clock this choice is the same at every price.";
  }
  return text;
}

/// "fastest at 8 ranks", or that the curve still improves at its end.
std::string fastest_text(const ScalingLaw& law) {
  const int end = law.curve.back().ranks;
  return *law.fastest == end && end > 1
             ? fmt::format("more ranks help up to the end of the curve, {}", ranks_text(end))
             : fmt::format("fastest at {}", ranks_text(*law.fastest));
}

std::string fitted_sentence(const ScalingResult& scaling, const ScalingLaw& law) {
  return fmt::format("Fitted {} law: contention s = {}, coherency c = {}; {}{}.",
                     scaling.mode,
                     estimate_text(*law.serial, 1.0),
                     estimate_text(*law.coherency, 1.0),
                     fastest_text(law),
                     law.curve[*law.fastest - 1].extrapolated ? " (extrapolated)" : "");
}

std::string predicted_sentence(const ScalingResult& scaling, const ScalingLaw& law) {
  const int most = scaling.rows.back().ranks;
  std::string text = fmt::format(
      "Predicted from the measured parts ({} scaling): {}", scaling.mode, fastest_text(law));
  if (law.cost_optimal) {
    text += fmt::format(", cheapest at {}", ranks_text(*law.cost_optimal));
    if (law.cost_optimal_range && law.cost_optimal_range->low < law.cost_optimal_range->high) {
      text += fmt::format(" [{}, {}]", law.cost_optimal_range->low, law.cost_optimal_range->high);
    }
  }
  text += *law.fastest > most || law.cost_optimal.value_or(0) > most
              ? fmt::format("; beyond {} is extrapolated.", ranks_text(most))
              : ".";
  if (!law.reproduces_measured) {
    text += fmt::format(
        " It misses the measured counts by {:.1f} % (root mean square), more than "
        "its range: use it with care.",
        100.0 * law.residual);
  }
  return text;
}

void add_law(const ScalingResult& scaling, const ScalingLaw& law, std::vector<Finding>& findings) {
  if (!law.not_identifiable.empty()) {
    findings.push_back({fmt::format("{} ({} scaling) is not identifiable: {}.",
                                    law.prediction ? "The prediction" : "The scaling law",
                                    scaling.mode,
                                    law.not_identifiable),
                        true});
  } else if (law.prediction && law.fastest) {
    const bool doubt = !law.reproduces_measured;
    if (scaling.mode != "strong" || doubt) {
      findings.push_back({predicted_sentence(scaling, law), doubt, true});
    }
  } else if (law.serial && law.coherency && law.fastest) {
    findings.push_back({fitted_sentence(scaling, law), false});
  }
}

}  // namespace

void add_scaling_results(const ScalingResult& scaling, std::vector<Finding>& findings) {
  if (scaling.rows.empty()) return;
  const ScalingRow& last = scaling.rows.back();
  if (scaling.mode == "weak") {
    if (scaling.rows.size() > 1 && last.efficiency) {
      findings.push_back({weak_sentence(scaling), false, true});
    }
    if (scaling.cause) {
      findings.push_back({cause_sentence(scaling), false});
    } else if (!scaling.cause_note.empty()) {
      findings.push_back(
          {fmt::format("No cause of the {} loss: {}.", scaling.mode, scaling.cause_note), false});
    }
  }
  if (scaling.cost) findings.push_back({cost_sentence(scaling), false});
  for (const ScalingLaw& law : scaling.laws) add_law(scaling, law, findings);
}

void add_utilisation(const Analysis& analysis, std::vector<Finding>& findings) {
  std::string text;
  std::string basis;
  for (const ScalingResult& scaling : analysis.scaling) {
    if (scaling.rows.empty() || !scaling.rows.back().mfu_measured) continue;
    const ScalingRow& last = scaling.rows.back();
    text += fmt::format("{}{:.1f} % ({} scaling, {})",
                        text.empty() ? "MFU " : ", ",
                        100.0 * *last.mfu_measured,
                        scaling.mode,
                        ranks_text(last.ranks));
    basis = last.mfu_basis;
  }
  if (!text.empty()) {
    findings.push_back({text + " of the measured ceiling: " + basis + ".", false, true});
  }
}

}  // namespace scaleworth::model
