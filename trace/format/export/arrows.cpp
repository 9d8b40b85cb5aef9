// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/arrows.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

/// Which event of a rank takes part in a collective; by collective.
using Participation = std::vector<std::pair<std::int64_t, std::uint32_t>>;

/// Whether the selection shows the event of a split.
class ShownEvents {
 public:
  ShownEvents(const Job& job, const ClockMap& clocks, const Selection& selection)
      : job_(job), clocks_(clocks), selection_(selection) {}
  bool contain(std::size_t rank, const CommunicationSplit& split) const {
    const DeviceEvent& event = job_.recordings.at(rank).device_events.at(split.event);
    return selection_.ranks.at(rank) && selection_.shows(clocks_.to_common(rank, event.start),
                                                         clocks_.to_common(rank, event.end));
  }

 private:
  const Job& job_;
  const ClockMap& clocks_;
  const Selection& selection_;
};

std::vector<Participation> shown_participations(const Waits& waits, const ShownEvents& shown) {
  std::vector<Participation> all(waits.by_rank.size());
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    for (const CommunicationSplit& split : waits.by_rank[rank])
      if (split.collective >= 0 && shown.contain(rank, split))
        all[rank].emplace_back(split.collective, split.event);
    std::sort(all[rank].begin(), all[rank].end());
  }
  return all;
}

}  // namespace

Arrows::Arrows(const Job& job, const Attributed& attributed, const Selection& selection)
    : by_rank_(attributed.waits.by_rank.size()) {
  const Waits& waits = attributed.waits;
  const ShownEvents events_shown(job, attributed.alignment.map, selection);
  const std::vector<Participation> shown = shown_participations(waits, events_shown);
  std::uint64_t number = 0;
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    for (const CommunicationSplit& split : waits.by_rank[rank]) {
      if (!split.known || !split.waited_for || !events_shown.contain(rank, split)) continue;
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
