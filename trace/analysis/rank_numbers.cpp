// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/rank_numbers.h"

#include "trace/analysis/rank_names.h"

#include <algorithm>

namespace scaleworth::trace {

RankNumbers::RankNumbers(const Job& job) {
  bool ascending = true;
  std::int32_t last = -1;
  for (const Recording& recording : job.recordings) {
    ascending = ascending && recording.origin.rank && *recording.origin.rank > last;
    if (!ascending) break;
    last = *recording.origin.rank;
  }
  for (std::size_t place = 0; place < job.recordings.size(); ++place)
    ranks_.push_back(
        Rank{ascending ? *job.recordings[place].origin.rank : static_cast<std::int32_t>(place)});
}

std::optional<std::size_t> RankNumbers::place_of(Rank rank) const {
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end() || *found != rank) return std::nullopt;
  return static_cast<std::size_t>(found - ranks_.begin());
}

std::string RankNumbers::names(const std::vector<std::uint32_t>& places) const {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(places.size());
  for (const std::uint32_t place : places)
    ranks.push_back(static_cast<std::uint32_t>(at(place).index));
  return rank_names(ranks);
}

void number_ranks(const RankNumbers& numbers, attribution::Attribution& result) {
  const auto number = [&](Rank& rank) { rank = numbers.at(static_cast<std::size_t>(rank.index)); };
  for (attribution::RankRecording& one : result.recordings) number(one.rank);
  for (attribution::ClockReport::RankClock& one : result.clocks.ranks) number(one.rank);
  for (attribution::StepLedger& one : result.ledger) number(one.rank);
  for (attribution::CollectiveWait& one : result.collectives) {
    for (attribution::CollectiveWait::Participant& part : one.participants) number(part.rank);
    if (one.sender) number(*one.sender);
    if (one.last_arriver) number(*one.last_arriver);
  }
  for (attribution::Culprit& one : result.culprits.culprits) number(one.rank);
  if (result.efficiency)
    for (attribution::Efficiency::PathShare& one : result.efficiency->critical_path)
      number(one.rank);
}

}  // namespace scaleworth::trace
