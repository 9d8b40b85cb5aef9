// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/collectives/pipeline_channels.h"

#include <algorithm>
#include <map>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

bool mentions(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

}  // namespace

PipelineLayout::PipelineLayout(const Job& job) : places_(job.recordings.size()) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> seen;
  for (std::size_t rank = 0; rank < places_.size(); ++rank) {
    const Origin& origin = job.recordings[rank].origin;
    if (!origin.pipeline_stage) continue;
    Place& place = places_[rank];
    place.known = true;
    place.stage = *origin.pipeline_stage;
    place.replica = origin.data_parallel_rank.value_or(0);
    place.sibling = seen[{place.stage, place.replica}]++;
    stages_ = std::max(stages_, place.stage + 1);
  }
}

template <class Predicate>
std::vector<std::uint32_t> PipelineLayout::all_where(Predicate predicate) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t rank = 0; rank < places_.size(); ++rank)
    if (places_[rank].known && predicate(places_[rank])) found.push_back(rank);
  return found;
}

PipelineMeeting PipelineLayout::meeting(std::uint32_t rank,
                                        CollectiveKind kind,
                                        std::string_view name) const {
  const Place& own = places_[rank];
  PipelineMeeting meeting{{}, std::nullopt, std::string(name)};
  if (kind == CollectiveKind::send || kind == CollectiveKind::receive) {
    meeting.operation = std::string(name.substr(0, name.rfind('-')));
    const bool upwards = !mentions(name, "backward");
    const bool to_next = upwards == (kind == CollectiveKind::send);
    // Interleaved schedules go around: after the last stage comes the first.
    const std::int32_t partner = (own.stage + (to_next ? 1 : stages_ - 1)) % stages_;
    meeting.members = all_where([&](const Place& place) {
      return place.replica == own.replica && place.sibling == own.sibling &&
             (place.stage == own.stage || place.stage == partner);
    });
    if (kind == CollectiveKind::send) meeting.sender = rank;
    for (const std::uint32_t member : meeting.members)
      if (kind == CollectiveKind::receive && member != rank) meeting.sender = member;
    return meeting;
  }
  meeting.members = all_where([&](const Place& place) {
    if (mentions(name, "clip")) return true;
    if (mentions(name, "layernorm"))
      return place.stage == own.stage && place.replica == own.replica;
    if (place.sibling != own.sibling) return false;
    if (mentions(name, "embedding"))
      return place.replica == own.replica && (place.stage == 0 || place.stage == stages_ - 1);
    return place.stage == own.stage;
  });
  return meeting;
}

}  // namespace scaleworth::trace
