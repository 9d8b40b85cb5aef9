// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/diagnosis.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

constexpr const char* add_parts = "add compute_s, comm_s and idle_s to say why the curve bends";

std::string undecided(const LawSpread& spread) {
  if (!spread.serial_share || !(spread.missing > 0.0)) {
    return fmt::format("the table has no parts: {}", add_parts);
  }
  return fmt::format(
      "the table has no parts, and the fits that its totals allow put {} of the gap at {} on "
      "serial work ({:.0f} % to {:.0f} % with their noise); only a communication measurement "
      "separates "
      "them: {}",
      spread.by_fits
          ? fmt::format(
                "{:.0f} % to {:.0f} %", 100.0 * spread.by_fits->low, 100.0 * spread.by_fits->high)
          : "no certain part",
      spread.count,
      100.0 * spread.serial_share->low,
      100.0 * spread.serial_share->high,
      add_parts);
}

void decide_by_law(Diagnosis& diagnosis, bool predictable) {
  diagnosis.no_cause = fmt::format("the table has no parts: {}", add_parts);
  const auto& spread = diagnosis.spread;
  if (!spread || !predictable) return;
  auto cause = gap_cause(spread->gap);
  if (!cause || !spread->serial_share || cause->owner.empty()) {
    diagnosis.no_cause = undecided(*spread);
    return;
  }
  diagnosis.cause = std::move(cause);
  diagnosis.by_law = true;
  diagnosis.no_cause.clear();
}

void decide_by_parts(Diagnosis& diagnosis, int count) {
  if (diagnosis.gaps.back().count == count) {
    diagnosis.decisive = diagnosis.gaps.back();
    diagnosis.cause = gap_cause(*diagnosis.decisive);
  }
  if (!diagnosis.cause) {
    diagnosis.no_cause = fmt::format("no part of the time lost anything at {}", count);
  }
}

}  // namespace

Diagnosis diagnose_table(const std::vector<DecisionRow>& rows,
                         const std::vector<RowLoss>& losses,
                         const KneeSet& knees,
                         bool predictable,
                         const std::optional<MessageTerms>& message) {
  Diagnosis diagnosis;
  diagnosis.message = message;
  if (rows.size() < 2) {
    diagnosis.no_cause = "one count: no loss to explain; measure a second one";
    return diagnosis;
  }
  diagnosis.spread = law_spread(rows);
  if (losses.empty()) {
    decide_by_law(diagnosis, predictable);
    if (knees.by_law) {
      diagnosis.remedies = law_remedies(knees.law, knees.draws, Cause::overhead, knees.request);
    }
    return diagnosis;
  }
  const std::optional<ComputeSplit> split = split_compute(rows);
  diagnosis.gaps = part_gaps(rows, losses, split, message);
  decide_by_parts(diagnosis, rows.back().count);
  diagnosis.remedies = part_remedies(rows, split, knees);
  return diagnosis;
}

Diagnosis diagnose_curve(const Coefficients& coefficients,
                         int count,
                         const std::vector<int>& shown,
                         const KneeSet& knees,
                         const std::optional<MessageTerms>& message) {
  Diagnosis diagnosis;
  diagnosis.message = message;
  for (const int at : shown) {
    if (at > 1) diagnosis.gaps.push_back(coefficient_gap(coefficients, at, message));
  }
  // The caller's coefficients are a cause by themselves, also where they take no time.
  diagnosis.decisive = coefficient_gap(coefficients, count, message);
  diagnosis.cause = gap_cause(*diagnosis.decisive).value_or(model::ScalingCause{});
  diagnosis.remedies = law_remedies(knees.law, {}, Cause::communication, knees.request);
  return diagnosis;
}

}  // namespace scaleworth::decide
