// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/recorded/rank_means.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace scaleworth::decide {

using attribution::Attribution;
using attribution::LedgerPart;
using attribution::StepLedger;

namespace {

constexpr double seconds_per_ns = 1e-9;

}  // namespace

double RankMean::host() const {
  return part(LedgerPart::host_late) + part(LedgerPart::launch_gap) +
         part(LedgerPart::profiler_overhead);
}

double seconds(attribution::Nanoseconds time) {
  return static_cast<double>(time.count()) * seconds_per_ns;
}

attribution::Nanoseconds nanoseconds(double time_s) {
  return attribution::Nanoseconds(std::llround(time_s / seconds_per_ns));
}

bool all_excluded(const Attribution& attribution) {
  return std::none_of(attribution.ledger.begin(),
                      attribution.ledger.end(),
                      [](const StepLedger& ledger) { return ledger.excluded.empty(); });
}

std::vector<RankMean> rank_means(const Attribution& attribution) {
  const bool all = all_excluded(attribution);
  std::map<Rank, RankMean> by_rank;
  for (const StepLedger& ledger : attribution.ledger) {
    if (!all && !ledger.excluded.empty()) continue;
    RankMean& rank = by_rank[ledger.rank];
    rank.steps.push_back(seconds(ledger.end - ledger.start));
    for (std::size_t i = 0; i < rank.parts.size(); ++i) rank.parts[i] += seconds(ledger.parts[i]);
  }
  std::vector<RankMean> means;
  for (auto& [number, rank] : by_rank) {
    const auto count = static_cast<double>(rank.steps.size());
    for (double& time : rank.parts) time /= count;
    rank.step = std::accumulate(rank.steps.begin(), rank.steps.end(), 0.0) / count;
    means.push_back(std::move(rank));
  }
  return means;
}

RankMean mean_over(const std::vector<RankMean>& ranks) {
  RankMean mean;
  const auto count = static_cast<double>(ranks.size());
  for (const RankMean& rank : ranks) {
    mean.step += rank.step / count;
    for (std::size_t i = 0; i < mean.parts.size(); ++i) mean.parts[i] += rank.parts[i] / count;
  }
  return mean;
}

}  // namespace scaleworth::decide
