// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/recorded/ledger_facts.h"

#include "src/core/attribution/attribution.h"
#include "src/model/decide/table/recorded/rank_means.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

using attribution::Attribution;
using attribution::LedgerPart;

/// The factors of a rank that waits for nobody.
std::optional<attribution::Efficiency> lone_factors(const RankMean& rank) {
  const double useful = rank.part(LedgerPart::compute);
  if (!(useful > 0.0)) return std::nullopt;
  const double without_transfer =
      rank.step - rank.part(LedgerPart::exposed_transfer) - rank.part(LedgerPart::exposed_wait);
  const double without_host = without_transfer - rank.host();
  attribution::Efficiency factors;
  factors.window = "the ledger of its only rank";
  factors.load_balance = 1.0;
  factors.transfer = without_transfer / rank.step;
  factors.host = without_host / without_transfer;
  factors.dependency = useful / without_host;
  factors.serialization = factors.host * factors.dependency;
  factors.parallel = useful / rank.step;
  factors.step_time = nanoseconds(rank.step);
  factors.runtime = factors.step_time;
  factors.useful = {nanoseconds(useful)};
  return factors;
}

/// As they are, of one step instead of a window.
std::optional<attribution::Efficiency> of_one_step(const attribution::Efficiency& window) {
  if (window.runtime.count() <= 0 || window.step_time.count() <= 0) return std::nullopt;
  const double steps = std::max(1.0, seconds(window.runtime) / seconds(window.step_time));
  attribution::Efficiency step = window;
  step.runtime = window.step_time;
  for (auto& useful : step.useful) useful = nanoseconds(seconds(useful) / steps);
  return step;
}

void set_factors(LedgerFacts& ledger,
                 const Attribution& attribution,
                 const std::vector<RankMean>& ranks) {
  const auto recorded = static_cast<int>(attribution.recordings.size());
  if (ledger.count == 1 && ranks.size() == 1) {
    ledger.factors = lone_factors(ranks.front());
    if (!ledger.factors) ledger.no_factors = "no kernel ran";
  } else if (recorded < ledger.count) {
    ledger.no_factors = "ranks are missing";
  } else if (attribution.efficiency) {
    ledger.factors = of_one_step(*attribution.efficiency);
    if (!ledger.factors) ledger.no_factors = "its window has no length";
  } else {
    ledger.no_factors = attribution.efficiency_reason;
    while (ledger.no_factors.ends_with('.')) ledger.no_factors.pop_back();
  }
}

/// "cause: late host (data loading)".
std::string cause_text(const attribution::Culprit& culprit) {
  if (culprit.cause == attribution::LateCause::undecided)
    return "no single cause explains 80 % of it";
  std::string text = std::string("cause: ") + attribution::late_cause_name(culprit.cause);
  for (const attribution::CauseShare& share : culprit.shares) {
    if (share.cause == culprit.cause && !share.detail.empty()) {
      return text + " (" + share.detail + ")";
    }
  }
  return text;
}

std::string culprit_of(const Attribution& attribution) {
  const auto& culprits = attribution.culprits.culprits;
  const auto significant = [](const auto& one) { return one.significant; };
  const auto worst = std::find_if(culprits.begin(), culprits.end(), significant);
  if (worst == culprits.end()) return "";
  const auto named = std::count_if(culprits.begin(), culprits.end(), significant);
  return fmt::format("rank {}{}, {:.3g} ms of each step on average; {}",
                     worst->rank.index,
                     named > 1 ? fmt::format(" most (and for {} more)", named - 1) : "",
                     worst->exposed_per_step_ms,
                     cause_text(*worst));
}

}  // namespace

LedgerFacts ledger_facts(const Attribution& attribution,
                         const std::vector<RankMean>& ranks,
                         int count) {
  LedgerFacts facts;
  facts.count = count;
  facts.culprit = culprit_of(attribution);
  set_factors(facts, attribution, ranks);
  return facts;
}

}  // namespace scaleworth::decide
