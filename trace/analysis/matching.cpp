// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/matching.h"

#include "src/core/process.h"
#include "trace/recording.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
using attribution::CollectiveKind;

/// Calls of one channel, by member.
using CallsByMember = std::vector<std::vector<Call>>;

bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::send_receive;
}

/// Of calls that are said to be one: absent when they contradict each other. Both sides of a
/// message are one exchange.
std::optional<CollectiveKind> common_kind(std::span<const Call> calls) {
  CollectiveKind common = CollectiveKind::unknown;
  for (const Call& call : calls) {
    const CollectiveKind kind = is_message(call.kind) ? CollectiveKind::send_receive : call.kind;
    if (kind == CollectiveKind::unknown) continue;
    if (common != CollectiveKind::unknown && common != kind) return std::nullopt;
    common = kind;
  }
  return common;
}

class Matcher {
 public:
  explicit Matcher(const Job& job) : job_(job), numbers_(job) {}

  void match(const Channel& channel) {
    const auto calls = static_cast<std::int64_t>(channel.calls.size());
    if (channel.members.size() < 2) {
      if (channel.missing_members > 0) matching_.unmatched += calls;
      return;
    }
    if (channel.missing_members > 0)
      remark(
          fmt::format("{}: {} of its {} ranks left no recording; what the others wait for them "
                      "counts as transfer",
                      channel.label,
                      channel.missing_members,
                      channel.missing_members + std::ssize(channel.members)));
    const std::int64_t before = paired_;
    const bool numbered = std::ranges::all_of(
        channel.calls, [](const Call& call) { return call.sequence.has_value(); });
    numbered ? pair_by_sequence(channel) : pair_by_order(channel);
    matching_.unmatched += calls - (paired_ - before);
  }

  Matching finish() {
    constexpr std::size_t shown = 12;
    if (matching_.remarks.size() > shown) {
      const std::size_t more = matching_.remarks.size() - shown;
      matching_.remarks.resize(shown);
      matching_.remarks.push_back(fmt::format("{} more remarks of this kind", more));
    }
    return std::move(matching_);
  }

 private:
  void remark(std::string text) { matching_.remarks.push_back(std::move(text)); }

  void pair_by_sequence(const Channel& channel) {
    struct Numbered {
      std::int64_t sequence = 0;
      std::uint32_t occurrence = 0;  // calls in one group of NCCL may share a number
      Call call;
    };
    std::vector<Numbered> numbered;
    for (const Call& call : channel.calls) numbered.push_back({*call.sequence, 0, call});
    std::ranges::stable_sort(
        numbered, {}, [](const Numbered& a) { return std::tuple(a.call.rank, a.sequence); });
    for (std::size_t i = 1; i < numbered.size(); ++i) {
      const Numbered& previous = numbered[i - 1];
      if (previous.call.rank == numbered[i].call.rank && previous.sequence == numbered[i].sequence)
        numbered[i].occurrence = previous.occurrence + 1;
    }
    std::ranges::stable_sort(
        numbered, {}, [](const Numbered& a) { return std::tuple(a.sequence, a.occurrence); });
    std::int64_t incomplete = 0;
    std::vector<Call> together;
    for (std::size_t i = 0; i < numbered.size();) {
      const Numbered& first = numbered[i];
      together.clear();
      for (; i < numbered.size() && numbered[i].sequence == first.sequence &&
             numbered[i].occurrence == first.occurrence;
           ++i)
        together.push_back(numbered[i].call);
      if (!emit(channel, together, first.sequence)) ++incomplete;
    }
    if (incomplete > 0)
      remark(fmt::format("{}: {} calls are not recorded by all of its ranks and are left out",
                         channel.label,
                         incomplete));
  }

  void pair_by_order(const Channel& channel) {
    if (const std::string lossy = lossy_members(channel); !lossy.empty())
      return remark(
          fmt::format("{}: {} dropped records, so that calls without numbers cannot be "
                      "paired",
                      channel.label,
                      lossy));
    CallsByMember by_member(channel.members.size());
    for (const Call& call : channel.calls) {
      const auto place = std::ranges::lower_bound(channel.members, call.rank);
      by_member[static_cast<std::size_t>(place - channel.members.begin())].push_back(call);
    }
    if (kinds_agree(by_member) || channel.basis == Channel::Basis::message ||
        channel.basis == Channel::Basis::timeline || channel.basis == Channel::Basis::group)
      return zip(channel, by_member, channel.label);
    pair_each_kind(channel, by_member);
  }

  /// Streams that order different kinds differently: each kind by itself.
  void pair_each_kind(const Channel& channel, const CallsByMember& by_member) {
    for (int value = 0; value <= static_cast<int>(CollectiveKind::barrier); ++value) {
      const auto kind = static_cast<CollectiveKind>(value);
      CallsByMember of_kind(by_member.size());
      bool any = false;
      for (std::size_t member = 0; member < by_member.size(); ++member)
        for (const Call& call : by_member[member])
          if (call.kind == kind) {
            of_kind[member].push_back(call);
            any = true;
          }
      if (any)
        zip(channel,
            of_kind,
            fmt::format("{} on {}", attribution::collective_kind_name(kind), channel.label));
    }
  }

  static bool kinds_agree(const CallsByMember& by_member) {
    return std::ranges::all_of(by_member, [&](const std::vector<Call>& calls) {
      return std::ranges::equal(
          calls, by_member.front(), [](const Call& a, const Call& b) { return a.kind == b.kind; });
    });
  }

  void zip(const Channel& channel, const CallsByMember& by_member, const std::string& label) {
    const auto [fewest, most] =
        std::ranges::minmax_element(by_member, {}, [](const auto& a) { return a.size(); });
    if (fewest->size() != most->size()) return remark(unequal_counts(channel, by_member, label));
    std::int64_t contradicting = 0;
    std::vector<Call> together;
    for (std::size_t index = 0; index < fewest->size(); ++index) {
      together.clear();
      for (const std::vector<Call>& calls : by_member) together.push_back(calls[index]);
      if (!emit(channel, together, static_cast<std::int64_t>(index))) ++contradicting;
    }
    if (contradicting > 0)
      remark(fmt::format("{}: {} calls are of different kinds on its ranks and are left out",
                         label,
                         contradicting));
  }

  std::string unequal_counts(const Channel& channel,
                             const CallsByMember& by_member,
                             const std::string& label) const {
    std::map<std::size_t, std::vector<std::uint32_t>> by_count;
    for (std::size_t member = 0; member < by_member.size(); ++member)
      by_count[by_member[member].size()].push_back(channel.members[member]);
    std::string counts;
    for (const auto& [count, ranks] : by_count)
      counts +=
          fmt::format("{}{} {} calls", counts.empty() ? "" : ", ", numbers_.names(ranks), count);
    return fmt::format(
        "{}: {}; left out, because without sequence numbers a pairing would be a "
        "guess",
        label,
        counts);
  }

  std::string lossy_members(const Channel& channel) const {
    std::vector<std::uint32_t> lossy;
    for (const std::uint32_t member : channel.members)
      for (const auto& [what, count] : job_.recordings[member].losses)
        if (what.starts_with("dropped") && count > 0 && (lossy.empty() || lossy.back() != member))
          lossy.push_back(member);
    return lossy.empty() ? "" : numbers_.names(lossy);
  }

  /// False when not everybody takes part or the kinds contradict each other.
  bool emit(const Channel& channel, std::span<const Call> calls, std::int64_t index) {
    if (calls.size() != channel.members.size()) return false;
    const std::optional<CollectiveKind> kind = common_kind(calls);
    if (!kind) return false;
    MatchedCollective matched;
    // Exchanges of more than two ranks without named partners have the shape of an all-to-all.
    matched.kind = *kind == CollectiveKind::send_receive && calls.size() > 2
                       ? CollectiveKind::all_to_all
                       : *kind;
    matched.group = channel.group;
    matched.index = index;
    for (const Call& call : calls) {
      if (channel.sender == call.rank)
        matched.sender = static_cast<std::uint32_t>(matched.members.size());
      if (call.root) matched.root = call.root;
      matched.members.push_back({call.rank, call.event});
    }
    matching_.collectives.push_back(std::move(matched));
    paired_ += std::ssize(calls);
    return true;
  }

  const Job& job_;
  RankNumbers numbers_;
  Matching matching_;
  std::int64_t paired_ = 0;
};
}  // namespace

Matching match_collectives(const Job& job) {
  Matcher matcher(job);
  for (const Channel& channel : collect_channels(job)) {
    check_interrupt();
    matcher.match(channel);
  }
  return matcher.finish();
}

namespace {
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
