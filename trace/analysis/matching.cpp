// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/matching.h"

#include "src/core/process.h"
#include "trace/analysis/intervals.h"

#include <cmath>
#include <set>
#include <span>
#include <tuple>

namespace scaleworth::trace {

Exchange exchange_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::unknown:
      return Exchange::unknown;
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
      return Exchange::from_root;
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
      return Exchange::to_root;
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::send_receive:
      return Exchange::message;
    default:
      return Exchange::all;
  }
}

namespace {
/// One rank's side of a collective or of a message.
struct Call {
  std::uint32_t rank = 0;   // index into Job::recordings
  std::uint32_t event = 0;  // index into its device_events
  CollectiveKind kind = CollectiveKind::unknown;
  std::optional<std::int64_t> sequence;
  std::optional<std::uint32_t> root;  // index into Job::recordings
  std::uint32_t occurrence = 0;       // of the sequence: calls in one group of NCCL may share it
};

/// Calls that can only pair with each other, in terms that the ranks share.
struct Channel {
  enum class Basis : std::uint8_t {
    group,     // metadata names the process group
    message,   // sender and receiver are known
    role,      // only the place of the stream is known: stream 1 of every rank
    timeline,  // a framework's timeline names the operation, the stage and the replica
  };
  Basis basis = Basis::role;
  std::string group;                   // as Communication::group; empty when none is known
  Finding label = FindingId::stated;   // "group 1", "messages from rank 0 to rank 1"
  std::vector<std::uint32_t> members;  // recordings that must take part; ascending when complete
  /// Ranks that take part but left no recording.
  std::int64_t missing_members = 0;
  std::optional<std::uint32_t> sender;  // of messages
  std::vector<Call> calls;              // by rank, then in order of their starts
};

/// Calls of one channel, by member.
using CallsByMember = std::vector<std::vector<Call>>;

/// Of calls that are said to be one: absent when they contradict each other. Both sides of a
/// message are one exchange.
std::optional<CollectiveKind> common_kind(std::span<const Call> calls) {
  CollectiveKind common = CollectiveKind::unknown;
  for (const Call& call : calls) {
    const CollectiveKind kind =
        exchange_of(call.kind) == Exchange::message ? CollectiveKind::send_receive : call.kind;
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
      if (channel.missing_members > 0 || channel.basis == Channel::Basis::role)
        matching_.unmatched += calls;
      return;
    }
    if (channel.missing_members > 0)
      remark(FindingId::partners_without_recording,
             channel.label,
             channel.missing_members,
             channel.missing_members + std::ssize(channel.members));
    const std::int64_t before = paired_;
    const bool numbered = std::ranges::all_of(
        channel.calls, [](const Call& call) { return call.sequence.has_value(); });
    numbered ? pair_by_sequence(channel) : pair_by_order(channel);
    matching_.unmatched += calls - (paired_ - before);
  }

  Matching finish() {
    constexpr std::size_t shown = 12;  // more are counted
    if (matching_.remarks.size() > shown) {
      const std::size_t more = matching_.remarks.size() - shown;
      matching_.remarks.erase(matching_.remarks.begin() + shown, matching_.remarks.end());
      remark(FindingId::more_such_remarks, more);
    }
    return std::move(matching_);
  }

 private:
  void remark(FindingId id, const auto&... values) {
    matching_.remarks.emplace_back(id, values...);
  }

  void pair_by_sequence(const Channel& channel) {
    std::vector<Call> calls = channel.calls;
    std::ranges::stable_sort(
        calls, {}, [](const Call& a) { return std::pair(a.rank, *a.sequence); });
    for (std::size_t i = 1; i < calls.size(); ++i)
      if (calls[i - 1].rank == calls[i].rank && calls[i - 1].sequence == calls[i].sequence)
        calls[i].occurrence = calls[i - 1].occurrence + 1;
    const auto number = [](const Call& a) { return std::pair(*a.sequence, a.occurrence); };
    std::ranges::stable_sort(calls, {}, number);
    std::int64_t incomplete = 0;
    for (auto first = calls.begin(); first != calls.end();) {
      const auto last = std::find_if(
          first, calls.end(), [&](const Call& a) { return number(a) != number(*first); });
      if (!emit(channel, {first, last}, *first->sequence)) ++incomplete;
      first = last;
    }
    if (incomplete > 0) remark(FindingId::calls_not_on_all, channel.label, incomplete);
  }

  void pair_by_order(const Channel& channel) {
    std::vector<Place> lossy;
    for (const std::uint32_t member : channel.members)
      if (dropped_records(job_.recordings[member])) lossy.push_back(Place{member});
    if (!lossy.empty())
      return remark(FindingId::calls_without_numbers, channel.label, numbers_.names(lossy));
    CallsByMember by_member(channel.members.size());
    for (const Call& call : channel.calls) {
      const auto place = std::ranges::lower_bound(channel.members, call.rank);
      by_member[place - channel.members.begin()].push_back(call);
    }
    if (channel.basis != Channel::Basis::role || kinds_agree(by_member))
      return zip(channel, by_member, channel.label);
    pair_each_kind(channel, by_member);
  }

  /// Streams that order different kinds differently: each kind by itself.
  void pair_each_kind(const Channel& channel, const CallsByMember& by_member) {
    std::map<CollectiveKind, CallsByMember> by_kind;
    for (std::size_t member = 0; member < by_member.size(); ++member)
      for (const Call& call : by_member[member]) {
        CallsByMember& of_kind = by_kind[call.kind];
        of_kind.resize(by_member.size());
        of_kind[member].push_back(call);
      }
    for (const auto& [kind, calls] : by_kind)
      zip(channel, calls, {FindingId::kind_on, key_of(kind), channel.label});
  }

  static bool kinds_agree(const CallsByMember& by_member) {
    return std::ranges::all_of(by_member, [&](const std::vector<Call>& calls) {
      return std::ranges::equal(calls, by_member.front(), {}, &Call::kind, &Call::kind);
    });
  }

  void zip(const Channel& channel, const CallsByMember& by_member, const Finding& label) {
    const auto [fewest, most] =
        std::ranges::minmax_element(by_member, {}, [](const auto& a) { return a.size(); });
    if (fewest->size() != most->size())
      return remark(FindingId::counts_of_calls_differ, label, counts(channel, by_member));
    // A timeline has one clock: what ends together there belongs together.
    if (channel.basis != Channel::Basis::timeline && !channel.sender && fewest->size() > 1)
      for (const std::vector<Call>& calls : by_member)
        if (fits_shifted(by_member.front(), calls))
          return remark(
              FindingId::pairing_ambiguous,
              label,
              numbers_.names({Place{by_member.front().front().rank}, Place{calls.front().rank}}));
    std::int64_t contradicting = 0;
    std::vector<Call> together;
    for (std::size_t index = 0; index < fewest->size(); ++index) {
      together.clear();
      for (const std::vector<Call>& calls : by_member) together.push_back(calls[index]);
      if (!emit(channel, together, static_cast<std::int64_t>(index))) ++contradicting;
    }
    if (contradicting > 0) remark(FindingId::calls_of_other_kinds, label, contradicting);
  }

  /// Whether the times between the ends of calls are as equal on two ranks with a shift of the
  /// index as without one, as far as n of them can show (to 1 + 4 / sqrt(n) times the median
  /// difference, which no offset and no drift of a clock changes): where the clocks are further
  /// apart than a time service leaves them, or the shift brings them closer together.
  bool fits_shifted(const std::vector<Call>& calls, const std::vector<Call>& others) const {
    // 4 / sqrt(128): a third beside the median difference.
    constexpr std::int64_t most_samples = 128;
    constexpr double synchronized_ns = 1e6;  // NTP within a site; presumed
    constexpr double one_host_ns = 30e3;     // clocks of its GPUs are that close
    const auto since = [&](const Call& later, const Call& earlier) {
      return in_ns(job_.recordings[later.rank].device_events[later.event].end -
                   job_.recordings[earlier.rank].device_events[earlier.event].end);
    };
    const auto sample = [&](std::int64_t shift, auto look) {
      const std::int64_t first = std::max<std::int64_t>(-shift, 0);
      const std::int64_t pairs = std::ssize(calls) - std::abs(shift) - 1;
      std::vector<double> seen;
      for (std::int64_t i = first; i < first + pairs; i += 1 + pairs / most_samples)
        seen.push_back(look(calls.data() + i, others.data() + i + shift));
      return seen;
    };
    const auto differ = [&](auto a, auto b) { return std::abs(since(a[1], *a) - since(b[1], *b)); };
    const auto apart = [&](std::int64_t shift) {
      return std::abs(upper_median(sample(shift, [&](auto a, auto b) { return since(*a, *b); })));
    };
    const double offset = apart(0);
    const auto suspect = [&](std::int64_t shift) {
      return offset > synchronized_ns || (calls.size() > 2 && apart(shift) < offset);
    };
    if (offset <= one_host_ns || (!suspect(-1) && !suspect(1))) return false;
    const double usual = upper_median(sample(0, differ));
    for (std::int64_t size = 1; size <= std::min(std::ssize(calls) / 2, 8 * most_samples); ++size)
      for (const std::int64_t shift : {-size, size}) {
        const std::vector<double> differences = sample(shift, differ);
        const auto n = static_cast<double>(differences.size());
        const auto equal = std::ranges::count_if(
            differences, [=](double ns) { return ns <= usual * (1.0 + 4.0 / std::sqrt(n)); });
        if (2.0 * static_cast<double>(equal) >= n + std::sqrt(n) && suspect(shift)) return true;
      }
    return false;
  }

  /// "ranks 0 and 2 2 calls, rank 1 3 calls".
  std::string counts(const Channel& channel, const CallsByMember& by_member) const {
    std::map<std::size_t, std::vector<Place>> by_count;
    for (std::size_t member = 0; member < by_member.size(); ++member)
      by_count[by_member[member].size()].push_back(Place{channel.members[member]});
    return listed(by_count, [&](const auto& one) {
      return fmt::format("{} {} calls", numbers_.names(one.second), one.first);
    });
  }

  /// False when not all take part or the kinds contradict each other.
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
    matched.complete = channel.missing_members == 0;
    for (const Call& call : calls) {
      if (channel.sender == call.rank)
        matched.sender = static_cast<std::uint32_t>(matched.members.size());
      if (call.root) matched.root = Place{*call.root};
      matched.members.push_back({Place{call.rank}, call.event});
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

/// Without ranks and size where the recording does not have the group.
const ProcessGroup& group_of(const Recording& recording, NameId name) {
  static const ProcessGroup unknown;
  const auto* found = value_at(recording.groups, name);
  return found ? *found : unknown;
}

std::set<NameId> used_groups(const Recording& recording) {
  std::set<NameId> used;
  for (const Communication& communication : recording.communications)
    if (communication.group != NameId::none) used.insert(communication.group);
  return used;
}

/// Process groups of a job, one per set of ranks, whatever number each recording gave it.
class GroupTable {
 public:
  struct Group {
    std::string name;
    std::vector<std::int32_t> ranks;  // global, in the group's order; empty when unknown
    std::optional<std::int32_t> size;
  };

  explicit GroupTable(const Job& job) : by_name_(job.recordings.size()) {
    std::map<std::string_view, std::set<std::vector<std::int32_t>>> lists;  // of ranks, by name
    for (std::uint32_t rank = 0; rank < job.recordings.size(); ++rank) {
      const Recording& recording = job.recordings[rank];
      recording_of_global_.emplace(recording.origin.rank.value_or(static_cast<std::int32_t>(rank)),
                                   rank);
      for (const NameId id : used_groups(recording)) {
        const ProcessGroup& known = group_of(recording, id);
        if (!known.ranks.empty()) lists[recording.names.at(id)].insert(known.ranks);
      }
    }
    std::map<std::pair<std::string_view, std::vector<std::int32_t>>, std::uint32_t> ids;
    for (std::uint32_t rank = 0; rank < job.recordings.size(); ++rank) {
      const Recording& recording = job.recordings[rank];
      for (const NameId id : used_groups(recording)) {
        const std::string_view name = recording.names.at(id);
        const ProcessGroup& known = group_of(recording, id);
        std::vector<std::int32_t> ranks = known.ranks;
        // A rank whose tool shortened the list belongs to the only group of that name.
        const auto listed = lists.find(name);
        if (ranks.empty() && listed != lists.end() && listed->second.size() == 1)
          ranks = *listed->second.begin();
        const auto [place, fresh] =
            ids.emplace(std::pair(name, ranks), static_cast<std::uint32_t>(groups_.size()));
        if (fresh) groups_.push_back({std::string(name), ranks, std::nullopt});
        Group& group = groups_[place->second];
        if (known.size) group.size = known.size;
        if (!group.ranks.empty()) group.size = static_cast<std::int32_t>(group.ranks.size());
        by_name_[rank].emplace(id, place->second);
      }
    }
  }

  /// Of a group as recording `rank` names it.
  std::uint32_t index(std::uint32_t rank, NameId name) const { return by_name_[rank].at(name); }
  const Group& at(std::uint32_t index) const { return groups_.at(index); }
  /// The recording of the member that is `place` in the group's own order; without a list of ranks
  /// places are global ranks. Absent when that rank left no recording.
  std::optional<std::uint32_t> recording(std::uint32_t index, std::int32_t place) const {
    const std::vector<std::int32_t>& ranks = at(index).ranks;
    std::int32_t global = place;
    if (!ranks.empty()) {
      if (place < 0 || static_cast<std::size_t>(place) >= ranks.size()) return std::nullopt;
      global = ranks[place];
    }
    return recording_of_rank(global);
  }

  /// Of a rank of the job.
  std::optional<std::uint32_t> recording_of_rank(std::int32_t global) const {
    const auto* found = value_at(recording_of_global_, global);
    return found ? std::optional(*found) : std::nullopt;
  }

 private:
  std::vector<Group> groups_;
  std::vector<std::map<NameId, std::uint32_t>> by_name_;       // by recording
  std::map<std::int32_t, std::uint32_t> recording_of_global_;  // global rank to recording
};

bool mentions(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

/// Ranks that meet in an operation; of a message exactly sender and receiver.
struct PipelineMeeting {
  std::vector<std::uint32_t> members;                  // recordings, ascending
  const std::vector<std::uint32_t>* shared = nullptr;  // in place of `members`, where many meet
  std::optional<std::uint32_t> sender;
  std::string operation;  // the name without "-send", "-recv": equal on both sides

  const std::vector<std::uint32_t>& all() const { return shared ? *shared : members; }
};

/// Who takes part in an operation of a framework's own timeline, from the positions of the ranks in
/// pipeline and replicas and from the operation's name.
class PipelineLayout {
 public:
  explicit PipelineLayout(const Job& job) : positions_(job.recordings.size()) {
    for (std::uint32_t rank = 0; rank < positions_.size(); ++rank) {
      const Origin& origin = job.recordings[rank].origin;
      if (!origin.pipeline_stage) continue;
      const std::int32_t stage = *origin.pipeline_stage;
      const std::int32_t replica = origin.data_parallel_rank.value_or(0);
      std::vector<std::uint32_t>& siblings = siblings_[{stage, replica}];
      const Position position{stage, replica, static_cast<std::int32_t>(siblings.size())};
      positions_[rank] = position;
      siblings.push_back(rank);
      replicas_[{stage, position.sibling}].push_back(rank);
      all_.push_back(rank);
      stages_ = std::max(stages_, stage + 1);
    }
  }

  /// Whether the timeline says where in the pipeline `rank` stands.
  bool knows(std::uint32_t rank) const { return positions_[rank].has_value(); }

  /// Names as Megatron's timers give them. "forward-send" of a stage meets "forward-recv" of the
  /// next one, backward the other way round; an operation on the embedding joins the first and the
  /// last stage of a replica, the gradient norm ("clip") all, one on "layernorm" only the
  /// tensor-parallel ranks of a position, and all others the replicas of a stage.
  PipelineMeeting meeting(std::uint32_t rank, CollectiveKind kind, std::string_view name) const {
    const Position& own = *positions_[rank];
    PipelineMeeting meeting{{}, nullptr, std::nullopt, std::string(name)};
    if (kind == CollectiveKind::send || kind == CollectiveKind::receive) {
      meeting.operation = std::string(name.substr(0, name.rfind('-')));
      const bool upwards = !mentions(name, "backward");
      const bool to_next = upwards == (kind == CollectiveKind::send);
      // Interleaved schedules go around: after the last stage comes the first.
      meeting.members =
          of_stages(own, own.stage, (own.stage + (to_next ? 1 : stages_ - 1)) % stages_);
      for (const std::uint32_t member : meeting.members)
        if ((member == rank) == (kind == CollectiveKind::send)) meeting.sender = member;
    } else if (mentions(name, "clip")) {
      meeting.shared = &all_;
    } else if (mentions(name, "layernorm")) {
      meeting.shared = &siblings_.at({own.stage, own.replica});
    } else if (mentions(name, "embedding")) {
      meeting.members = of_stages(own, 0, stages_ - 1);
    } else {
      meeting.shared = &replicas_.at({own.stage, own.sibling});
    }
    return meeting;
  }

 private:
  struct Position {
    std::int32_t stage = 0;
    std::int32_t replica = 0;
    std::int32_t sibling = 0;  // the how-manieth recording of stage and replica: tensor-parallel
  };

  /// Ascending; of the position's replica, and its sibling there.
  std::vector<std::uint32_t> of_stages(const Position& own,
                                       std::int32_t one,
                                       std::int32_t other) const {
    std::set<std::uint32_t> found;
    for (const std::int32_t stage : {one, other}) {
      const auto* siblings = value_at(siblings_, {stage, own.replica});
      if (siblings && std::cmp_less(own.sibling, siblings->size()))
        found.insert((*siblings)[own.sibling]);
    }
    return {found.begin(), found.end()};
  }

  using RankLists = std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>>;

  std::vector<std::optional<Position>> positions_;  // by recording
  RankLists siblings_;                              // recordings by stage and replica
  RankLists replicas_;                              // the same by stage and sibling
  std::vector<std::uint32_t> all_;                  // the same of all that have a position
  std::int32_t stages_ = 1;
};

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

  void add(std::uint32_t rank, std::uint32_t index) {
    const DeviceEvent& event = job_.recordings[rank].device_events[index];
    const Communication* known = communication_of(job_.recordings[rank], event);
    Call call{rank, index, event.collective, std::nullopt, std::nullopt, 0};
    if (call.kind == CollectiveKind::unknown && known != nullptr) call.kind = known->kind;
    if (known != nullptr && known->group != NameId::none) {
      add_to_group(call, *known);
    } else if (layout_.knows(rank)) {
      add_to_timeline(call, job_.recordings[rank].names.at(event.name));
    } else if (known != nullptr && known->peer) {
      add_message(call, *known, std::nullopt);
    } else {
      const std::uint32_t role = role_of(rank, event);
      add_to({Channel::Basis::role, role, 0, 0, ""}, call, [&](Channel& channel) {
        channel.label = {FindingId::stream_of_each_rank, role};
      });
    }
  }

  void add_to_group(Call call, const Communication& known) {
    const std::uint32_t group = groups_.index(call.rank, known.group);
    call.sequence = known.sequence;
    if (known.peer) return add_message(call, known, group);
    if (known.root) call.root = groups_.recording(group, *known.root);
    add_to({Channel::Basis::group, group, 0, 0, ""}, call, [&](Channel& channel) {
      channel.group = groups_.at(group).name;
      channel.label = {FindingId::group_named, channel.group};
      for (const std::int32_t global : groups_.at(group).ranks)
        if (const auto found = groups_.recording_of_rank(global)) channel.members.push_back(*found);
      channel.missing_members = groups_.at(group).size.value_or(0);
    });
  }

  void add_message(Call call, const Communication& known, std::optional<std::uint32_t> group) {
    const std::optional<std::uint32_t> peer =
        group ? groups_.recording(*group, *known.peer) : groups_.recording_of_rank(*known.peer);
    // Numbers of messages count calls of one side only.
    call.sequence.reset();
    const std::uint32_t other = peer.value_or(no_index);
    const bool receives = call.kind == CollectiveKind::receive;
    const bool directed = receives || call.kind == CollectiveKind::send;
    std::uint32_t first = call.rank;
    std::uint32_t second = other;
    if (directed ? receives : second < first) std::swap(first, second);
    const Key key(Channel::Basis::message,
                  group.value_or(no_index),
                  first,
                  second,
                  directed ? "directed" : "exchange");
    add_to(key, call, [&](Channel& channel) {
      if (group) channel.group = groups_.at(*group).name;
      channel.label =
          peer ? Finding(directed ? FindingId::messages_from_to : FindingId::messages_between,
                         numbers_.at(Place{first}).index,
                         numbers_.at(Place{second}).index)
               : Finding(FindingId::messages_with_unrecorded, numbers_.at(Place{call.rank}).index);
      if (peer) channel.members = {std::min(first, second), std::max(first, second)};
      if (!peer) channel.missing_members = 2;
      if (directed && peer) channel.sender = first;
    });
  }

  void add_to_timeline(const Call& call, std::string_view name) {
    const PipelineMeeting meeting = layout_.meeting(call.rank, call.kind, name);
    const std::vector<std::uint32_t>& members = meeting.all();
    const std::uint32_t first = members.empty() ? call.rank : members.front();
    const std::uint32_t last = members.empty() ? call.rank : members.back();
    const Key key(Channel::Basis::timeline,
                  first,
                  last,
                  meeting.sender.value_or(no_index),
                  meeting.operation);
    add_to(key, call, [&](Channel& channel) {
      channel.group = fmt::format("{} of ranks {} to {}",
                                  meeting.operation,
                                  numbers_.at(Place{first}).index,
                                  numbers_.at(Place{last}).index);
      channel.label = {FindingId::stated, channel.group};
      channel.members = members;
      channel.sender = meeting.sender;
    });
  }

  /// Adds `call` to the channel of `key`, which `describe` fills in when it is new.
  template <class Describe>
  void add_to(const Key& key, const Call& call, Describe describe) {
    const auto [place, fresh] = ids_.emplace(key, channels_.size());
    if (fresh) {
      channels_.emplace_back().basis = std::get<0>(key);
      describe(channels_.back());
    }
    channels_[place->second].calls.push_back(call);
  }

  /// Those that a list names and those that call, whatever lists say; by role all with work
  /// on a GPU takes part.
  void complete_members(Channel& channel) const {
    std::set<std::uint32_t> present(channel.members.begin(), channel.members.end());
    for (const Call& call : channel.calls) present.insert(call.rank);
    if (channel.basis == Channel::Basis::role) {
      for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank)
        if (!job_.recordings[rank].device_events.empty()) present.insert(rank);
      channel.missing_members =
          job_size(job_).at_least - std::ssize(job_.recordings) + std::ssize(present);
    }
    channel.members.assign(present.begin(), present.end());
    channel.missing_members = std::max<std::int64_t>(
        0, channel.missing_members - static_cast<std::int64_t>(channel.members.size()));
  }

  /// Streams of communication without metadata are named by their place, when every rank has
  /// equally many; else all of a rank's are one.
  void find_roles() {
    roles_.resize(job_.recordings.size());
    for (std::uint32_t rank = 0; rank < job_.recordings.size(); ++rank) {
      for (const DeviceEvent& event : job_.recordings[rank].device_events) {
        const Communication* known = communication_of(job_.recordings[rank], event);
        if (is_communication(event) && (known == nullptr || known->group == NameId::none))
          roles_[rank].emplace(StreamName(event.device, event.stream), 0);
      }
      std::uint32_t place = 0;
      for (auto& [stream, role] : roles_[rank]) role = place++;
    }
    std::set<std::size_t> counts;
    for (const auto& streams : roles_) counts.insert(streams.size());
    counts.erase(0);
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

Matching match_collectives(const Job& job) {
  Matcher matcher(job);
  for (const Channel& channel : Collector(job).collect()) {
    check_interrupt();
    matcher.match(channel);
  }
  return matcher.finish();
}
}  // namespace scaleworth::trace
