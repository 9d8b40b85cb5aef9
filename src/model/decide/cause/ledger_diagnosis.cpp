// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/diagnosis.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr double telling_difference = 0.10;
constexpr std::array all_causes{
    Cause::serial, Cause::communication, Cause::idle, Cause::host, Cause::io, Cause::slowdown};

const LedgerFacts* ledger_of(const std::vector<LedgerFacts>& ledgers, int count) {
  const auto found = std::find_if(
      ledgers.begin(), ledgers.end(), [&](const LedgerFacts& one) { return one.count == count; });
  return found == ledgers.end() ? nullptr : &*found;
}

double share_of(const Gap& gap, Cause cause) {
  double share = 0.0;
  for (const CauseLoss& loss : gap.losses) share += loss.cause == cause ? loss.share : 0.0;
  return share;
}

std::string disagreement(const Gap& factors, const Gap& parts) {
  std::string text;
  for (const Cause cause : all_causes) {
    const double by_factors = share_of(factors, cause);
    const double by_parts = share_of(parts, cause);
    if (std::abs(by_factors - by_parts) <= telling_difference) continue;
    text += fmt::format("{}{} {:.0f} % instead of {:.0f} %",
                        text.empty() ? "" : ", ",
                        cause_name(cause),
                        100.0 * by_parts,
                        100.0 * by_factors);
  }
  if (text.empty()) return "";
  return fmt::format(
      "the parts of the ledger divide the gap at {} otherwise than the factors: {} (parts charge "
      "waiting where it is spent, factors what it waits for)",
      factors.count,
      text);
}

/// The gaps of the rows beyond the baseline that have factors; none without the baseline's.
std::vector<Gap> factor_gaps(const std::vector<DecisionRow>& rows,
                             const std::vector<LedgerFacts>& ledgers) {
  const auto baseline = std::find_if(
      rows.begin(), rows.end(), [](const auto& row) { return row.count_ratio == 1.0; });
  const LedgerFacts* from = ledger_of(ledgers, baseline->count);
  std::vector<Gap> gaps;
  if (!from || !from->factors) return gaps;
  const std::optional<ComputeSplit> split = split_compute(rows);
  for (const DecisionRow& row : rows) {
    const LedgerFacts* at = ledger_of(ledgers, row.count);
    if (row.count_ratio <= 1.0 || !at || !at->factors) continue;
    const double growth = at->step_work / from->step_work;
    Gap gap = pop_gap(*at->factors, row.count, &*from->factors, growth);
    // The table's times may be those of many steps.
    const double steps =
        row.time.value.value() / std::chrono::duration<double>(at->factors->runtime).count();
    gap.lost_s *= steps;
    for (CauseLoss& loss : gap.losses) loss.lost_s *= steps;
    divide_slowdown(gap, row.count_ratio, split, &row == &rows.back());
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

/// Of the baseline or of the largest count, whichever lacks them.
std::string why_no_factors(const std::vector<DecisionRow>& rows,
                           const std::vector<LedgerFacts>& ledgers) {
  for (const DecisionRow& row : rows) {
    const bool needed = row.count_ratio == 1.0 || &row == &rows.back();
    const LedgerFacts* at = ledger_of(ledgers, row.count);
    if (needed && at && !at->factors) {
      return fmt::format(
          "the cause is told from the parts of the ledger alone, because {} has no "
          "POP factors: {}",
          row.count,
          at->no_factors);
    }
  }
  return "";
}

}  // namespace

void add_ledgers(Diagnosis& diagnosis,
                 const std::vector<DecisionRow>& rows,
                 const std::vector<LedgerFacts>& ledgers) {
  if (ledgers.empty() || rows.size() < 2) return;
  const int largest = rows.back().count;
  if (const LedgerFacts* at = ledger_of(ledgers, largest)) diagnosis.culprit = at->culprit;
  diagnosis.factor_gaps = factor_gaps(rows, ledgers);
  const bool told = !diagnosis.factor_gaps.empty() &&
                    diagnosis.factor_gaps.back().count == largest &&
                    !diagnosis.factor_gaps.back().losses.empty();
  if (!told) {
    diagnosis.factor_note = why_no_factors(rows, ledgers);
    return;
  }
  Gap decisive = diagnosis.factor_gaps.back();
  if (diagnosis.decisive) {
    diagnosis.factor_note = disagreement(decisive, *diagnosis.decisive);
    decisive.latency_share = diagnosis.decisive->latency_share;
  }
  diagnosis.by_factors = true;
  diagnosis.cause = gap_cause(decisive);
  diagnosis.decisive = std::move(decisive);
  diagnosis.no_cause.clear();
}

}  // namespace scaleworth::decide
