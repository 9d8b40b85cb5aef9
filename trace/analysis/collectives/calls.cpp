// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/collectives/calls.h"

#include "src/core/interrupt.h"
#include "trace/analysis/collectives/groups.h"
#include "trace/analysis/collectives/pipeline_channels.h"
#include "trace/analysis/rank_numbers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

/// A stream as it appears to a rank.
using StreamName = std::pair<std::uint16_t, std::uint32_t>;

class Collector {
 public:
  explicit Collector(const Job& job) : job_(job), numbers_(job), groups_(job), layout_(job) {
    find_roles();
  }

  std::vector<Channel> collect() {
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank) {
      check_interrupt();
      const Recording& recording = job_.recordings[rank];
      for (std::uint32_t event = 0; event < recording.device_events.size(); ++event)
        if (is_communication(recording.device_events[event])) add(rank, event);
    }
    for (Channel& channel : channels_) complete_members(channel);
    return std::move(channels_);
  }

 private:
  using Key = std::tuple<Channel::Basis, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  const Communication* metadata(std::uint32_t rank, const DeviceEvent& event) const {
    if (event.communication == no_index) return nullptr;
    return &job_.recordings[rank].communications.at(event.communication);
  }

  CollectiveKind kind_of(std::uint32_t rank, const DeviceEvent& event) const {
    if (event.collective != CollectiveKind::unknown) return event.collective;
    const Communication* known = metadata(rank, event);
    return known == nullptr ? CollectiveKind::unknown : known->kind;
  }

  bool has_group(std::uint32_t rank, const DeviceEvent& event) const {
    const Communication* known = metadata(rank, event);
    return known != nullptr && known->group != NameId::none;
  }

  void add(std::uint32_t rank, std::uint32_t index) {
    const DeviceEvent& event = job_.recordings[rank].device_events[index];
    Call call{rank, index, kind_of(rank, event), std::nullopt, std::nullopt};
    const Communication* known = metadata(rank, event);
    if (has_group(rank, event)) {
      add_to_group(call, *known);
    } else if (layout_.knows(rank)) {
      add_to_timeline(call, job_.recordings[rank].names.at(event.name));
    } else if (known != nullptr && known->peer) {
      add_message(call, *known, std::nullopt);
    } else {
      Channel& channel = open(Key(Channel::Basis::role, role_of(rank, event), 0, 0, ""));
      if (channel.label.empty())
        channel.label = fmt::format("communication stream {} of each rank", role_of(rank, event));
      channel.calls.push_back(call);
    }
  }

  void add_to_group(Call call, const Communication& known) {
    const std::uint32_t group = groups_.index(call.rank, known.group);
    call.sequence = known.sequence;
    if (known.peer) return add_message(call, known, group);
    if (known.root) call.root = groups_.recording(group, *known.root);
    Channel& channel = open(Key(Channel::Basis::group, group, 0, 0, ""));
    if (channel.label.empty()) {
      channel.group = groups_.at(group).name;
      channel.label = fmt::format("group {}", channel.group);
      channel.members = groups_.recordings(group);
      channel.missing_members = groups_.at(group).size.value_or(0);
    }
    channel.calls.push_back(call);
  }

  void add_message(Call call, const Communication& known, std::optional<std::uint32_t> group) {
    const std::optional<std::uint32_t> peer =
        group ? groups_.recording(*group, *known.peer) : groups_.recording_of_rank(*known.peer);
    // Numbers of messages count calls of one side only.
    call.sequence.reset();
    const std::uint32_t other = peer.value_or(no_index);
    const bool sends = call.kind == CollectiveKind::send;
    const bool directed = sends || call.kind == CollectiveKind::receive;
    const std::uint32_t first = directed ? (sends ? call.rank : other) : std::min(call.rank, other);
    const std::uint32_t second =
        directed ? (sends ? other : call.rank) : std::max(call.rank, other);
    Channel& channel = open(Key(Channel::Basis::message,
                                group.value_or(no_index),
                                first,
                                second,
                                directed ? "directed" : "exchange"));
    if (channel.label.empty()) {
      if (group) channel.group = groups_.at(*group).name;
      channel.label = peer ? fmt::format("messages {} rank {} {} rank {}",
                                         directed ? "from" : "between",
                                         numbers_.at(first).index,
                                         directed ? "to" : "and",
                                         numbers_.at(second).index)
                           : fmt::format("messages of rank {} with a rank that left no recording",
                                         numbers_.at(call.rank).index);
      if (peer) channel.members = {std::min(first, second), std::max(first, second)};
      if (!peer) channel.missing_members = 2;
      if (directed && peer) channel.sender = first;
    }
    channel.calls.push_back(call);
  }

  void add_to_timeline(const Call& call, std::string_view name) {
    PipelineMeeting meeting = layout_.meeting(call.rank, call.kind, name);
    const std::uint32_t first = meeting.members.empty() ? call.rank : meeting.members.front();
    const std::uint32_t last = meeting.members.empty() ? call.rank : meeting.members.back();
    Channel& channel = open(Key(Channel::Basis::timeline,
                                first,
                                last,
                                meeting.sender.value_or(no_index),
                                meeting.operation));
    if (channel.label.empty()) {
      channel.group = fmt::format("{} of ranks {} to {}",
                                  meeting.operation,
                                  numbers_.at(first).index,
                                  numbers_.at(last).index);
      channel.label = channel.group;
      channel.members = std::move(meeting.members);
      channel.sender = meeting.sender;
    }
    channel.calls.push_back(call);
  }

  Channel& open(const Key& key) {
    const auto [place, fresh] = ids_.emplace(key, channels_.size());
    if (fresh) channels_.emplace_back().basis = std::get<0>(key);
    return channels_[place->second];
  }

  /// Those that a list names and those that call, whatever lists say; by role everybody with work
  /// on a GPU takes part.
  void complete_members(Channel& channel) const {
    std::set<std::uint32_t> present(channel.members.begin(), channel.members.end());
    for (const Call& call : channel.calls) present.insert(call.rank);
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank)
      if (channel.basis == Channel::Basis::role && !job_.recordings[rank].device_events.empty())
        present.insert(rank);
    channel.members.assign(present.begin(), present.end());
    channel.missing_members = std::max<std::int64_t>(
        0, channel.missing_members - static_cast<std::int64_t>(channel.members.size()));
  }

  /// Streams of communication without metadata are named by their place, when every rank has
  /// equally many; else all of a rank's are one.
  void find_roles() {
    roles_.resize(job_.recordings.size());
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank) {
      for (const DeviceEvent& event : job_.recordings[rank].device_events)
        if (is_communication(event) && !has_group(rank, event))
          roles_[rank].emplace(StreamName(event.device, event.stream), 0);
      std::uint32_t place = 0;
      for (auto& [stream, role] : roles_[rank]) role = place++;
    }
    std::set<std::size_t> counts;
    for (const auto& streams : roles_)
      if (!streams.empty()) counts.insert(streams.size());
    same_streams_ = counts.size() == 1;
  }

  std::uint32_t role_of(std::uint32_t rank, const DeviceEvent& event) const {
    return same_streams_ ? roles_[rank].at({event.device, event.stream}) : 0;
  }

  const Job& job_;
  RankNumbers numbers_;
  GroupTable groups_;
  PipelineLayout layout_;
  std::vector<std::map<StreamName, std::uint32_t>> roles_;  // by recording
  bool same_streams_ = true;
  std::map<Key, std::size_t> ids_;
  std::vector<Channel> channels_;
};

}  // namespace

bool is_communication(const DeviceEvent& event) {
  return event.work_class == attribution::WorkClass::communication;
}

std::vector<Channel> collect_channels(const Job& job) {
  return Collector(job).collect();
}

}  // namespace scaleworth::trace
