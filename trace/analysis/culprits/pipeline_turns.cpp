// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/culprits/pipeline_turns.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

using attribution::LedgerPart;

constexpr double least_at_messages = 0.1;

double share_at_messages(const Waits& waits) {
  double all = 0.0;
  double at_messages = 0.0;
  for (const attribution::CollectiveWait& one : waits.collectives) {
    double wait = 0.0;
    for (const auto& participant : one.participants)
      wait += static_cast<double>(participant.wait.count());
    all += wait;
    if (one.sender) at_messages += wait;
  }
  return all > 0.0 ? at_messages / all : 0.0;
}

/// Neither waiting nor transfers: those depend on the place in the pipeline.
double work_of(const attribution::StepLedger& step) {
  double work = 0.0;
  for (const LedgerPart part : {LedgerPart::compute,
                                LedgerPart::exposed_copy,
                                LedgerPart::host_late,
                                LedgerPart::profiler_overhead})
    work += static_cast<double>(step.part(part).count());
  return work;
}

}  // namespace

PipelineTurns::PipelineTurns(const CountedSteps& steps,
                             const Waits& waits,
                             const std::vector<attribution::StepLedger>& ledger,
                             std::size_t ranks)
    : taken_(share_at_messages(waits) >= least_at_messages) {
  if (!taken_) return;
  for (const attribution::StepLedger& step : ledger) {
    if (!steps.counts(step.excluded)) continue;
    std::vector<double>& work = work_[step.step];
    work.resize(ranks);
    work.at(static_cast<std::size_t>(step.rank.index)) += work_of(step);
  }
}

double PipelineTurns::take_off(Charges& charges) const {
  if (!taken_) return 0.0;
  double taken_off = 0.0;
  std::fill(charges.cost.begin(), charges.cost.end(), 0.0);
  for (auto& [number, costs] : charges.by_step) {
    const auto work = work_.find(number);
    const double usual = work == work_.end() ? 0.0 : median(work->second).value_or(0.0);
    for (std::size_t rank = 0; rank < costs.size(); ++rank) {
      const double longer = work == work_.end() ? 0.0 : work->second[rank] - usual;
      const double most = std::max(0.0, longer) * static_cast<double>(costs.size() - 1);
      taken_off += std::max(0.0, costs[rank] - most);
      costs[rank] = std::min(costs[rank], most);
      charges.cost[rank] += costs[rank];
    }
  }
  return taken_off;
}

}  // namespace scaleworth::trace
