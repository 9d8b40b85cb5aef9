// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/arrows.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

/// Which event of a rank takes part in a collective; by collective.
using Participation = std::vector<std::pair<std::int64_t, std::uint32_t>>;

std::vector<Participation> shown_participations(const Waits& waits, const Selection& selection) {
  std::vector<Participation> all(waits.by_rank.size());
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    if (!selection.ranks.at(rank)) continue;
    for (const CommunicationSplit& split : waits.by_rank[rank])
      if (split.collective >= 0 && selection.shows(split.start, split.end))
        all[rank].emplace_back(split.collective, split.event);
    std::sort(all[rank].begin(), all[rank].end());
  }
  return all;
}

}  // namespace

Arrows::Arrows(const Waits& waits, const Selection& selection) : by_rank_(waits.by_rank.size()) {
  const std::vector<Participation> shown = shown_participations(waits, selection);
  std::uint64_t number = 0;
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    if (!selection.ranks.at(rank)) continue;
    for (const CommunicationSplit& split : waits.by_rank[rank]) {
      if (!split.known || !split.waited_for || split.split <= split.start ||
          !selection.shows(split.start, split.end))
        continue;
      const auto culprit = static_cast<std::size_t>(split.waited_for->index);
      if (culprit >= shown.size() || culprit == rank) continue;
      const auto& events = shown[culprit];
      const auto from = std::lower_bound(
          events.begin(), events.end(), std::pair(split.collective, std::uint32_t{0}));
      if (from == events.end() || from->first != split.collective) continue;
      ++number;
      by_rank_[culprit].out.emplace_back(from->second, number);
      by_rank_[rank].in.emplace_back(split.event, number);
    }
  }
  for (OfRank& arrows : by_rank_) {
    std::sort(arrows.out.begin(), arrows.out.end());
    std::sort(arrows.in.begin(), arrows.in.end());
    for (const auto& [event, out] : arrows.out) arrows.out_numbers.push_back(out);
  }
}

std::span<const std::uint64_t> Arrows::out_of(std::size_t rank, std::uint32_t event) const {
  const OfRank& arrows = by_rank_.at(rank);
  const auto first =
      std::lower_bound(arrows.out.begin(), arrows.out.end(), std::pair(event, std::uint64_t{0}));
  auto last = first;
  while (last != arrows.out.end() && last->first == event) ++last;
  return std::span(arrows.out_numbers)
      .subspan(static_cast<std::size_t>(first - arrows.out.begin()),
               static_cast<std::size_t>(last - first));
}

std::optional<std::uint64_t> Arrows::into(std::size_t rank, std::uint32_t event) const {
  const auto& in = by_rank_.at(rank).in;
  const auto found = std::lower_bound(in.begin(), in.end(), std::pair(event, std::uint64_t{0}));
  if (found == in.end() || found->first != event) return std::nullopt;
  return found->second;
}

}  // namespace scaleworth::trace
