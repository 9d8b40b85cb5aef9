// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"

#include <map>

namespace scaleworth {
namespace {
/// Every mean of the ledger, always in the same order.
std::vector<double*> means_of(MeanLedger& ledger) {
  std::vector<double*> means{&ledger.step.mean,
                             &ledger.overlapped_transfer,
                             &ledger.overlapped_wait,
                             &ledger.overlapped_undivided,
                             &ledger.overlapped_copy,
                             &ledger.communication};
  for (Spread& part : ledger.parts) means.push_back(&part.mean);
  for (double& time : ledger.compute_by_class) means.push_back(&time);
  for (double& time : ledger.host_late_by_cause) means.push_back(&time);
  for (double& time : ledger.unknown_work) means.push_back(&time);
  return means;
}

/// Without extremes.
MeanLedger of_one_step(const StepLedger& ledger) {
  MeanLedger one;
  one.step.mean = in_seconds(ledger.end - ledger.start);
  for (std::size_t i = 0; i < part_count; ++i) one.parts[i].mean = in_seconds(ledger.parts[i]);
  std::ranges::transform(ledger.compute_by_class, one.compute_by_class.begin(), in_seconds);
  std::ranges::transform(ledger.host_late_by_cause, one.host_late_by_cause.begin(), in_seconds);
  std::ranges::transform(ledger.unknown_work, one.unknown_work.begin(), in_seconds);
  one.overlapped_transfer = in_seconds(ledger.overlapped_transfer);
  one.overlapped_wait = in_seconds(ledger.overlapped_wait);
  one.overlapped_undivided = in_seconds(ledger.overlapped_undivided);
  one.overlapped_copy = in_seconds(ledger.overlapped_copy);
  one.communication = in_seconds(ledger.communication);
  return one;
}

/// What is added counts alike, a step or the mean of a rank.
class MeanOf {
 public:
  void add(MeanLedger one) {
    const std::vector<double*> sums = means_of(sum_);
    const std::vector<double*> means = means_of(one);
    for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] += *means[i];
    widen(sum_.step, one.step.mean);
    for (std::size_t i = 0; i < part_count; ++i) widen(sum_.parts[i], one.parts[i].mean);
    ++count_;
  }
  /// Of at least one; `rank` and `steps` are the caller's.
  MeanLedger mean() const {
    MeanLedger mean = sum_;
    for (double* one : means_of(mean)) *one /= count_;
    return mean;
  }
  int count() const { return count_; }

 private:
  void widen(Spread& spread, double value) const {
    spread.least = count_ == 0 ? value : std::min(spread.least, value);
    spread.most = count_ == 0 ? value : std::max(spread.most, value);
  }

  MeanLedger sum_;
  int count_ = 0;
};
}  // namespace

PartTimes MeanLedger::part_times() const {
  PartTimes times{};
  for (std::size_t i = 0; i < part_count; ++i) times[i] = parts[i].mean;
  return times;
}

std::optional<JobMeans> job_means(const std::vector<StepLedger>& ledgers) {
  if (ledgers.empty()) return std::nullopt;
  JobMeans job;
  job.only_excluded = std::ranges::all_of(
      ledgers, [](const StepLedger& ledger) { return ledger.excluded.has_value(); });
  std::map<Rank, MeanOf> by_rank;
  for (const StepLedger& ledger : ledgers)
    if (job.counts(ledger)) by_rank[ledger.rank].add(of_one_step(ledger));
  MeanOf over_ranks;
  int steps = 0;
  for (const auto& [rank, of_rank] : by_rank) {
    MeanLedger& mean = job.ranks.emplace_back(of_rank.mean());
    mean.rank = rank;
    mean.steps = of_rank.count();
    over_ranks.add(mean);
    steps = std::max(steps, mean.steps);
  }
  job.mean = over_ranks.mean();
  job.mean.steps = steps;
  return job;
}
}  // namespace scaleworth
