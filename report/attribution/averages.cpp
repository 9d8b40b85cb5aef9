// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/averages.h"

#include <algorithm>
#include <map>

namespace scaleworth::report {
namespace {

using attribution::StepLedger;

/// Adds one value to a spread whose mean is still a sum.
void add(Spread& spread, double value, bool first) {
  spread.mean += value;
  spread.least = first ? value : std::min(spread.least, value);
  spread.most = first ? value : std::max(spread.most, value);
}

template <std::size_t N>
void add(std::array<double, N>& sums, const std::array<attribution::Nanoseconds, N>& times) {
  for (std::size_t i = 0; i < N; ++i) sums[i] += in_seconds(times[i]);
}

template <std::size_t N>
void add(std::array<double, N>& sums, const std::array<double, N>& values) {
  for (std::size_t i = 0; i < N; ++i) sums[i] += values[i];
}

void add(AveragedLedger& sum, const StepLedger& ledger) {
  const bool first = sum.steps == 0;
  add(sum.step, in_seconds(ledger.end - ledger.start), first);
  for (std::size_t i = 0; i < attribution::ledger_parts; ++i) {
    add(sum.parts[i], in_seconds(ledger.parts[i]), first);
  }
  add(sum.compute_by_class, ledger.compute_by_class);
  add(sum.host_late_by_cause, ledger.host_late_by_cause);
  sum.overlapped_transfer += in_seconds(ledger.overlapped_transfer);
  sum.overlapped_wait += in_seconds(ledger.overlapped_wait);
  sum.overlapped_copy += in_seconds(ledger.overlapped_copy);
  sum.communication += in_seconds(ledger.communication);
  sum.uncharged_wait += in_seconds(ledger.uncharged_wait);
  ++sum.steps;
}

void add(AveragedLedger& sum, const AveragedLedger& rank, bool first) {
  add(sum.step, rank.step.mean, first);
  for (std::size_t i = 0; i < attribution::ledger_parts; ++i) {
    add(sum.parts[i], rank.parts[i].mean, first);
  }
  add(sum.compute_by_class, rank.compute_by_class);
  add(sum.host_late_by_cause, rank.host_late_by_cause);
  sum.overlapped_transfer += rank.overlapped_transfer;
  sum.overlapped_wait += rank.overlapped_wait;
  sum.overlapped_copy += rank.overlapped_copy;
  sum.communication += rank.communication;
  sum.uncharged_wait += rank.uncharged_wait;
}

void divide(AveragedLedger& sum, double count) {
  sum.step.mean /= count;
  for (Spread& part : sum.parts) part.mean /= count;
  for (double& time : sum.compute_by_class) time /= count;
  for (double& time : sum.host_late_by_cause) time /= count;
  sum.overlapped_transfer /= count;
  sum.overlapped_wait /= count;
  sum.overlapped_copy /= count;
  sum.communication /= count;
  sum.uncharged_wait /= count;
}

}  // namespace

bool counts(const StepLedger& ledger, const AveragedJob& job) {
  return job.only_excluded || ledger.excluded.empty();
}

std::optional<AveragedJob> average(const attribution::Attribution& attribution) {
  const auto& ledgers = attribution.ledger;
  if (ledgers.empty()) return std::nullopt;
  AveragedJob job;
  job.only_excluded = std::none_of(ledgers.begin(), ledgers.end(), [](const StepLedger& ledger) {
    return ledger.excluded.empty();
  });
  std::map<Rank, AveragedLedger> by_rank;
  for (const StepLedger& ledger : ledgers) {
    if (counts(ledger, job)) add(by_rank[ledger.rank], ledger);
  }
  for (auto& [rank, ledger] : by_rank) {
    ledger.rank = rank;
    divide(ledger, ledger.steps);
    add(job.mean, ledger, job.ranks.empty());
    job.steps = std::max(job.steps, ledger.steps);
    job.ranks.push_back(ledger);
  }
  job.mean.steps = job.steps;
  divide(job.mean, static_cast<double>(job.ranks.size()));
  return job;
}

}  // namespace scaleworth::report
