// SPDX-License-Identifier: Apache-2.0
/// Which rank of the job the recording at a place of Job::recordings is.
#pragma once

#include "src/core/attribution/attribution.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

/// Analyses number recordings by place; people know them by rank, and the two differ where ranks
/// left no recording. Ranks are the recordings' own when all have one and they ascend, as
/// assign_ranks leaves them; else the places.
class RankNumbers {
 public:
  explicit RankNumbers(const Job& job);

  Rank at(std::size_t place) const { return ranks_.at(place); }
  /// Absent when the rank left no recording.
  std::optional<std::size_t> place_of(Rank rank) const;
  /// "ranks 0, 2-5 and 7" for ascending places, as rank_names.
  std::string names(const std::vector<std::uint32_t>& places) const;

 private:
  std::vector<Rank> ranks_;  // ascending
};

/// Every rank in the results of analyses, which is a place, becomes the rank that it stands for;
/// vectors by place stay as they are.
void number_ranks(const RankNumbers& numbers, attribution::Attribution& result);

}  // namespace scaleworth::trace
