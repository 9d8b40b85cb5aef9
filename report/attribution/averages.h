// SPDX-License-Identifier: Apache-2.0
/// A job's ledgers averaged over the steps that count.
#pragma once

#include "src/core/attribution/attribution.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::report {

/// Mean over steps with the extremes, in seconds.
struct Spread {
  double mean = 0.0;
  double least = 0.0;
  double most = 0.0;
};

struct AveragedLedger {
  std::optional<Rank> rank;  // absent: the mean over ranks, whose extremes are those of the ranks
  int steps = 0;
  Spread step;
  std::array<Spread, attribution::ledger_parts> parts{};
  // Means in seconds; the first two divide compute and host late.
  std::array<double, attribution::work_classes> compute_by_class{};
  std::array<double, attribution::host_causes> host_late_by_cause{};
  double overlapped_transfer = 0.0;
  double overlapped_wait = 0.0;
  double overlapped_copy = 0.0;
  double communication = 0.0;
  double uncharged_wait = 0.0;

  const Spread& part(attribution::LedgerPart which) const {
    return parts[static_cast<std::size_t>(which)];
  }
  /// Of the mean step; 0 for a step without length.
  double share(attribution::LedgerPart which) const {
    return step.mean > 0.0 ? part(which).mean / step.mean : 0.0;
  }
};

struct AveragedJob {
  std::vector<AveragedLedger> ranks;  // by rank
  AveragedLedger mean;
  /// Every step is one that must not be averaged, and they were, because nothing else is there.
  bool only_excluded = false;
  int steps = 0;  // of the rank with the most
};

/// Absent when there is no step at all.
std::optional<AveragedJob> average(const attribution::Attribution& attribution);

/// Steps that the averages are made of: those not excluded, or all when none is left.
bool counts(const attribution::StepLedger& ledger, const AveragedJob& job);

inline double in_seconds(attribution::Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-9;
}

}  // namespace scaleworth::report
