// SPDX-License-Identifier: Apache-2.0
/// Who delayed others, cost, significance, recurrence.
#pragma once

#include "trace/analysis/efficiency/job_replay.h"

namespace scaleworth::trace {
/// Who is late, at the level that explains most: units that compute longer, a rotating load, and
/// ranks that others wait for, for other reasons. `ledger` is that of the replayed job; steps that
/// are excluded from averages do not count here either. `host` says in what a late host was.
StragglerReport find_stragglers(const JobReplay& replay,
                                const std::vector<StepLedger>& ledger,
                                const HostTimes& host = {});

/// Of calls of known size whose ranks all left recordings: longer than noise, the clock error and
/// 20 % explain, at a cost of at least 0.5 % of its ranks' steps.
std::vector<SlowFabric> find_slow_fabric(const Job& job,
                                         const StepPlan& steps,
                                         const Waits& waits,
                                         const Alignment& alignment);

/// Whether it is always the same one that is late.
struct RecurrenceCount {
  Recurrence recurrence = Recurrence::too_few;
  std::vector<std::int32_t> by_rank;  // steps in which it is the largest cause
  std::optional<Place> rank;          // of Recurrence::one_rank: which
  bool beyond_chance = false;         // of Recurrence::one_rank
};

/// `cost` by step and rank; a step has a cause when the largest cost reaches `threshold`. A rank
/// recurs when it is the largest cause in at least 60 % of `steps` steps, and in all of them, or so
/// often that chance among `ranks` equals would do it less than once in a thousand jobs
/// (`beyond_chance`, binomial). Fewer than three steps show nothing.
RecurrenceCount count_recurrence(const std::map<std::int32_t, std::vector<double>>& cost,
                                 std::size_t ranks,
                                 std::int32_t steps,
                                 double threshold);

/// P(X >= hits) for X binomial with `trials` and `chance`.
double binomial_tail(std::int32_t hits, std::int32_t trials, double chance);
}  // namespace scaleworth::trace
