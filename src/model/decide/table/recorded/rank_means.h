// SPDX-License-Identifier: Apache-2.0
/// The average step of each rank of an attributed job, by part of the ledger.
#pragma once

#include "src/core/attribution/attribution.h"

#include <array>
#include <vector>

namespace scaleworth::decide {

/// Means over the steps of one rank, s.
struct RankMean {
  std::vector<double> steps;  // each step's length
  std::array<double, attribution::ledger_parts> parts{};
  double step = 0.0;

  double part(attribution::LedgerPart which) const {
    return parts[static_cast<std::size_t>(which)];
  }
  /// Launches that come late, the pauses between them, the profiler's own work.
  double host() const;
};

double seconds(attribution::Nanoseconds time);
attribution::Nanoseconds nanoseconds(double time_s);

/// No step counts as steady state.
bool all_excluded(const attribution::Attribution& attribution);

/// Over the steps that count, over all where none does; by rank, without ranks that have none.
std::vector<RankMean> rank_means(const attribution::Attribution& attribution);

/// Of one rank or more, without the steps.
RankMean mean_over(const std::vector<RankMean>& ranks);

}  // namespace scaleworth::decide
