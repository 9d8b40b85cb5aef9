// SPDX-License-Identifier: Apache-2.0
/// The one mean of ledgers: over the steps of a rank, then over ranks.
#pragma once

#include "src/core/step_ledger.h"

#include <cstdint>
#include <numeric>
#include <set>

namespace scaleworth {
inline double in_seconds(Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-9;
}

/// A mean with the extremes of what it is of, in seconds.
struct Spread {
  double mean = 0.0;
  double least = 0.0;
  double most = 0.0;
};

/// Times in seconds.
struct MeanLedger : LedgerDetails<double> {
  std::optional<Rank> rank;  // absent: the mean over ranks, whose extremes are those of the ranks
  int steps = 0;  // that it is of; of the mean over ranks those of the rank with the most
  Spread step;
  std::array<Spread, part_count> parts{};

  const Spread& part(Part which) const { return parts[index_of(which)]; }
  /// Without the extremes.
  PartTimes part_times() const;
  /// Of all kinds, in seconds.
  double all_unknown_work() const {
    return std::accumulate(unknown_work.begin(), unknown_work.end(), 0.0);
  }
  /// As known_time; compute is not known either where more of it may be in unknown work.
  std::optional<Spread> known(Part which) const {
    if (which == Part::compute && all_unknown_work() > part(which).mean) return std::nullopt;
    const double undivided = part(Part::exposed_undivided).mean;
    const bool is_known = known_time(which, part(which).mean, undivided).has_value();
    return is_known ? std::optional(part(which)) : std::nullopt;
  }
  std::optional<double> known_overlap(Part which) const {
    const double time = which == Part::exposed_wait ? overlapped_wait : overlapped_transfer;
    return known_time(which, time, overlapped_undivided);
  }
  /// Of the mean step; 0 for a step without length.
  double share(Part which) const { return step.mean > 0.0 ? part(which).mean / step.mean : 0.0; }
};

/// A job's ledgers averaged over the steps that count.
struct JobMeans {
  std::vector<MeanLedger> ranks;  // by rank; those with a step that counts
  MeanLedger mean;
  /// Every step is one that must not be averaged, and they were, because nothing else is there.
  bool only_excluded = false;

  bool counts(const StepLedger& ledger) const { return only_excluded || !ledger.excluded; }
};

/// Of each rank over its steps, then over the ranks, whatever their number of steps. Absent when
/// there is no step at all.
std::optional<JobMeans> job_means(const std::vector<StepLedger>& ledgers);
/// The numbers of the steps that count for any rank.
std::set<std::int32_t> counted_steps(const std::vector<StepLedger>& ledgers);
}  // namespace scaleworth
