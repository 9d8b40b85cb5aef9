// SPDX-License-Identifier: Apache-2.0
#include "src/core/mean_ledger.h"

#include <map>

namespace scaleworth {
namespace {
/// Without extremes.
MeanLedger of_one_step(const StepLedger& ledger) {
  MeanLedger one;
  one.step.mean = in_seconds(ledger.end - ledger.start);
  for (std::size_t i = 0; i < part_count; ++i) one.parts[i].mean = in_seconds(ledger.parts[i]);
  one.each_with(ledger, [](double& own, Nanoseconds time) { own = in_seconds(time); });
  return one;
}

/// What is added counts alike, a step or the mean of a rank.
class MeanOf {
 public:
  void add(const MeanLedger& one) {
    add(sum_.step, one.step);
    for (std::size_t i = 0; i < part_count; ++i) add(sum_.parts[i], one.parts[i]);
    sum_.each_with(one, [](double& sum, double time) { sum += time; });
    ++count_;
  }
  /// Of at least one; `rank` and `steps` are the caller's.
  MeanLedger mean() const {
    MeanLedger mean = sum_;
    mean.step.mean /= count_;
    for (Spread& part : mean.parts) part.mean /= count_;
    mean.each_with(sum_, [this](double& own, double sum) { own = sum / count_; });
    return mean;
  }
  int count() const { return count_; }

 private:
  void add(Spread& sum, const Spread& one) const {
    sum.least = count_ == 0 ? one.mean : std::min(sum.least, one.mean);
    sum.most = count_ == 0 ? one.mean : std::max(sum.most, one.mean);
    sum.mean += one.mean;
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

std::set<std::int32_t> counted_steps(const std::vector<StepLedger>& ledgers) {
  const std::optional<JobMeans> means = job_means(ledgers);
  std::set<std::int32_t> steps;
  for (const StepLedger& ledger : ledgers)
    if (means->counts(ledger)) steps.insert(ledger.step);
  return steps;
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
