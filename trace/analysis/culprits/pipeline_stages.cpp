// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/pipeline_stages.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace scaleworth::trace {

PipelineStages::PipelineStages(const Job& job,
                               const CountedSteps& steps,
                               const std::vector<attribution::StepLedger>& ledger)
    : job_(job), compute_(job.recordings.size()) {
  for (const attribution::StepLedger& step : ledger)
    if (steps.counts(step.excluded))
      compute_.at(static_cast<std::size_t>(step.rank.index)) +=
          static_cast<double>(step.part(attribution::LedgerPart::compute).count());
  median_ = median(compute_).value_or(0.0);
  std::map<std::int64_t, std::uint32_t> numbers;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const auto& stage = job.recordings[rank].origin.pipeline_stage;
    const std::int64_t key = stage ? std::int64_t{*stage} : -1 - static_cast<std::int64_t>(rank);
    units_.push_back(
        numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  unit_count_ = static_cast<std::uint32_t>(numbers.size());
}

std::optional<std::string> PipelineStages::uneven(std::uint32_t rank) const {
  const auto& stage = job_.recordings[rank].origin.pipeline_stage;
  const double excess = compute_[rank] - median_;
  if (!stage || median_ <= 0.0 || excess < 0.05 * median_) return std::nullopt;
  int replicas = 0;
  for (std::uint32_t other = 0; other < units_.size(); ++other) {
    if (units_[other] != units_[rank]) continue;
    ++replicas;
    const double own = compute_[other] - median_;
    if (own < 0.05 * median_ || own < 0.5 * excess) return std::nullopt;
  }
  if (replicas < 2) return std::nullopt;
  return fmt::format(
      "stage {} computes {:.2f} times as long as the median rank, on all of its {} "
      "replicas",
      *stage,
      compute_[rank] / median_,
      replicas);
}

}  // namespace scaleworth::trace
