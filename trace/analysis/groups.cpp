// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/matching.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace scaleworth::trace {
namespace {
using RankLists = std::map<std::string_view, std::set<std::vector<std::int32_t>>>;

const ProcessGroup* find_group(const Recording& recording, NameId name) {
  const auto found = recording.groups.find(name);
  return found == recording.groups.end() ? nullptr : &found->second;
}

std::set<NameId> used_groups(const Recording& recording) {
  std::set<NameId> used;
  for (const Communication& communication : recording.communications)
    if (communication.group != NameId::none) used.insert(communication.group);
  return used;
}

RankLists known_rank_lists(const Job& job, const std::vector<std::set<NameId>>& used) {
  RankLists lists;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    for (const NameId name : used[rank]) {
      const ProcessGroup* group = find_group(recording, name);
      if (group != nullptr && !group->ranks.empty())
        lists[recording.names.at(name)].insert(group->ranks);
    }
  }
  return lists;
}
}  // namespace

GroupTable::GroupTable(const Job& job) : by_name_(job.recordings.size()) {
  std::vector<std::set<NameId>> used;
  for (std::uint32_t rank = 0; rank < job.recordings.size(); ++rank) {
    const Origin& origin = job.recordings[rank].origin;
    recording_of_global_.emplace(origin.rank.value_or(static_cast<std::int32_t>(rank)), rank);
    used.push_back(used_groups(job.recordings[rank]));
  }
  const RankLists lists = known_rank_lists(job, used);
  std::map<std::pair<std::string_view, std::vector<std::int32_t>>, std::uint32_t> ids;
  for (std::uint32_t rank = 0; rank < job.recordings.size(); ++rank) {
    const Recording& recording = job.recordings[rank];
    for (const NameId id : used[rank]) {
      const std::string_view name = recording.names.at(id);
      const ProcessGroup* known = find_group(recording, id);
      std::vector<std::int32_t> ranks =
          known == nullptr ? std::vector<std::int32_t>{} : known->ranks;
      // A rank whose tool shortened the list belongs to the only group of that name.
      const auto listed = lists.find(name);
      if (ranks.empty() && listed != lists.end() && listed->second.size() == 1)
        ranks = *listed->second.begin();
      const auto [place, fresh] =
          ids.emplace(std::pair(name, ranks), static_cast<std::uint32_t>(groups_.size()));
      if (fresh) groups_.push_back({std::string(name), ranks, std::nullopt});
      Group& group = groups_[place->second];
      if (known != nullptr && known->size) group.size = known->size;
      if (!group.ranks.empty()) group.size = static_cast<std::int32_t>(group.ranks.size());
      by_name_[rank].emplace(id, place->second);
    }
  }
}

std::optional<std::uint32_t> GroupTable::recording(std::uint32_t index, std::int32_t place) const {
  const std::vector<std::int32_t>& ranks = at(index).ranks;
  std::int32_t global = place;
  if (!ranks.empty()) {
    if (place < 0 || static_cast<std::size_t>(place) >= ranks.size()) return std::nullopt;
    global = ranks[static_cast<std::size_t>(place)];
  }
  return recording_of_rank(global);
}

std::optional<std::uint32_t> GroupTable::recording_of_rank(std::int32_t global) const {
  const auto found = recording_of_global_.find(global);
  if (found == recording_of_global_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::uint32_t> GroupTable::recordings(std::uint32_t index) const {
  std::set<std::uint32_t> present;
  for (const std::int32_t global : at(index).ranks)
    if (const auto found = recording_of_rank(global)) present.insert(*found);
  return {present.begin(), present.end()};
}

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
