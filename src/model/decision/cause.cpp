// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"
#include "src/model/laws/law_evidence.h"

namespace scaleworth::model {
namespace {
constexpr double noted_difference = 0.10;

void decide_by_law(Diagnosis& diagnosis, bool predictable) {
  diagnosis.no_cause = FindingId::no_parts;
  const auto& spread = diagnosis.spread;
  if (!spread || !predictable) return;
  auto cause = gap_cause(spread->gap);
  if (!cause || !spread->serial_share || !cause->owner) return;
  diagnosis.cause = std::move(cause);
  diagnosis.by_law = true;
  diagnosis.fit = spread->fit;
  diagnosis.no_cause.reset();
}

/// What the ring takes is known; the rest of what does not shrink is serial work.
void decide_by_ring(Diagnosis& diagnosis,
                    const DecisionRow& baseline,
                    const DecisionRow& largest,
                    const RingCost& ring) {
  const bool grows = diagnosis.by_law && diagnosis.cause->owner == Cause::overhead;
  Gap gap = ring_gap(largest, baseline, ring, grows ? Cause::overhead : Cause::serial);
  const double share = gap.share(Cause::communication);
  diagnosis.by_terms = diagnosis.by_law || share >= explains_enough;
  if (diagnosis.by_terms) {
    diagnosis.cause = gap_cause(gap);
    diagnosis.no_cause.reset();
  } else {
    diagnosis.no_cause = Finding(FindingId::terms_explain_part, share);
  }
  diagnosis.decisive = std::move(gap);
}

void decide_by_parts(Diagnosis& diagnosis, const DecisionRow& largest) {
  if (diagnosis.gaps.back().count == largest.count) {
    diagnosis.decisive = diagnosis.gaps.back();
    diagnosis.cause = gap_cause(*diagnosis.decisive);
  }
  const auto& efficiency = largest.efficiency.interval;
  if (!diagnosis.cause) {
    diagnosis.no_cause = Finding(FindingId::nothing_lost, largest.count);
  } else if (efficiency && efficiency->high >= 1.0) {
    diagnosis.cause.reset();
    diagnosis.no_cause =
        Finding(FindingId::no_loss_beyond_noise, largest.count, efficiency->low, efficiency->high);
  }
  diagnosis.no_loss = !diagnosis.cause;
}

constexpr std::size_t fewest_rows = 4;  // that compute is divided by
constexpr std::size_t most_rows = 64;
constexpr std::array all_causes{
    Cause::serial, Cause::communication, Cause::idle, Cause::host, Cause::io, Cause::slowdown};

std::optional<Finding> disagreement(const Gap& factors, const Gap& parts) {
  std::vector<Finding> shares;
  for (const Cause cause : all_causes) {
    const double by_factors = factors.share(cause);
    const double by_parts = parts.share(cause);
    if (std::abs(by_factors - by_parts) > noted_difference)
      shares.emplace_back(
          FindingId::share_differs, scaleworth::word_of(cause), by_parts, by_factors);
  }
  if (shares.empty()) return {};
  return Finding(FindingId::parts_and_factors_differ, factors.count, shares);
}

/// The gaps of the rows beyond the baseline that have factors; none without the baseline's.
std::vector<Gap> factor_gaps(const std::vector<DecisionRow>& rows,
                             const std::vector<LedgerFacts>& ledgers) {
  const auto* from = find_in(ledgers, baseline_row(rows)->count, &LedgerFacts::count);
  std::vector<Gap> gaps;
  if (!from || !from->factors) return gaps;
  const std::optional<ComputeSplit> split = split_compute(rows);
  for (const DecisionRow& row : rows) {
    const LedgerFacts* at = find_in(ledgers, row.count, &LedgerFacts::count);
    if (row.count_ratio <= 1.0 || !at || !at->factors) continue;
    Gap gap = pop_gap(*at->factors, row.count, *from->factors, at->step_work / from->step_work);
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

void check(const MessageTerms& terms, int count) {
  const auto positive = [](double value) { return value > 0.0 && std::isfinite(value); };
  if (!positive(terms.latency.value()) || !positive(terms.bandwidth.value()) ||
      !positive(terms.message.value())) {
    throw UserError("--alpha-us, --beta-gbs and --message-mb must be above 0");
  }
  if (count < 2) throw UserError("one rank alone does not communicate");
}

/// Of the baseline or of the largest count, whichever lacks them.
std::optional<Finding> why_no_factors(const std::vector<DecisionRow>& rows,
                                      const std::vector<LedgerFacts>& ledgers) {
  for (const DecisionRow& row : rows) {
    const bool needed = row.count_ratio == 1.0 || &row == &rows.back();
    const LedgerFacts* at = find_in(ledgers, row.count, &LedgerFacts::count);
    if (needed && at && at->no_factors)
      return Finding(FindingId::by_parts_alone, row.count, *at->no_factors);
  }
  return {};
}
}  // namespace

Diagnosis diagnose_table(const std::vector<DecisionRow>& rows,
                         const std::vector<RowLoss>& losses,
                         bool predictable,
                         const std::optional<MessageTerms>& message,
                         const std::optional<RingCost>& ring) {
  Diagnosis diagnosis;
  if (rows.size() < 2) {
    diagnosis.no_cause = FindingId::nothing_to_explain;
    return diagnosis;
  }
  diagnosis.spread = law_spread(rows);
  if (losses.empty()) {
    decide_by_law(diagnosis, predictable);
    if (ring) decide_by_ring(diagnosis, *baseline_row(rows), rows.back(), *ring);
    return diagnosis;
  }
  const std::optional<ComputeSplit> split = split_compute(rows);
  diagnosis.gaps = part_gaps(rows, losses, split, message);
  decide_by_parts(diagnosis, rows.back());
  if (split) diagnosis.fit = split->fits.fits.back();
  return diagnosis;
}

Diagnosis diagnose_curve(const Coefficients& coefficients,
                         int count,
                         const std::vector<DecisionRow>& shown,
                         const KneeSet& knees,
                         const std::optional<MessageTerms>& message) {
  Diagnosis diagnosis;
  for (const DecisionRow& row : shown) {
    if (row.count > 1) diagnosis.gaps.push_back(coefficient_gap(coefficients, row.count, message));
  }
  // The caller's coefficients are a cause by themselves, also where they take no time.
  diagnosis.decisive = coefficient_gap(coefficients, count, message);
  diagnosis.cause = gap_cause(*diagnosis.decisive).value_or(ScalingCause{});
  diagnosis.remedies = curve_remedies(coefficients, knees.request);
  return diagnosis;
}

void add_ledgers(Diagnosis& diagnosis,
                 const std::vector<DecisionRow>& rows,
                 const std::vector<LedgerFacts>& ledgers) {
  if (ledgers.empty() || rows.size() < 2) return;
  const int largest = rows.back().count;
  const auto* last = find_in(ledgers, largest, &LedgerFacts::count);
  if (last) diagnosis.straggler = last->straggler;
  diagnosis.factor_gaps = factor_gaps(rows, ledgers);
  if (diagnosis.no_loss) return;
  const bool known = !diagnosis.factor_gaps.empty() &&
                     diagnosis.factor_gaps.back().count == largest &&
                     !diagnosis.factor_gaps.back().losses.empty();
  if (!known) {
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
  diagnosis.no_cause.reset();
}

std::optional<ComputeSplit> split_compute(const std::vector<DecisionRow>& rows) {
  ComputeSplit split;
  const auto compute = index_of(PartGroup::compute);
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0 || !row.parts_s[compute] || !(*row.parts_s[compute] > 0.0)) continue;
    const double time = *row.parts_s[compute] / row.work_growth();
    split.points.push_back(point_of_law(row, row.count_ratio, time));
  }
  if (split.points.size() < fewest_rows) return std::nullopt;
  split.points = thinned(split.points, most_rows);
  using namespace terms;
  split.fits = fit_shapes(split.points,
                          {{"serial work", {ideal, level}},
                           {"slow-down", {ideal, falling_short}},
                           {"both", {ideal, level, falling_short}}});
  split.serial_s = split.fits.fits.back().law.coefficient(level);
  return split;
}

double latency_share(const MessageTerms& terms, int count) {
  check(terms, count);
  const double transfer = (terms.message / terms.bandwidth).value() / count;
  return terms.latency.value() / (terms.latency.value() + transfer);
}

Bytes balanced_message(const MessageTerms& terms, int count) {
  check(terms, count);
  return terms.latency * terms.bandwidth * static_cast<double>(count);
}
}  // namespace scaleworth::model
