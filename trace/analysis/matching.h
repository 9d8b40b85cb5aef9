// SPDX-License-Identifier: Apache-2.0
/// Which kernels of different ranks are one collective.
#pragma once

#include "src/core/step_ledger.h"
#include "trace/recording.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::trace {
// Which communication kernels of different ranks are one and the same collective.

struct MatchedCollective {
  attribution::CollectiveKind kind = attribution::CollectiveKind::unknown;
  std::string group;       // as Communication::group; empty when matched by order
  std::int64_t index = 0;  // the how-manieth of its group or stream role
  struct Member {
    std::uint32_t rank = 0;   // index into Job::recordings
    std::uint32_t event = 0;  // index into its device_events
  };
  std::vector<Member> members;        // by rank, at least two, each rank once
  std::optional<std::uint32_t> root;  // index into Job::recordings, of a one-sided collective
  /// Of a send/receive pair: members[sender] sends.
  std::optional<std::uint32_t> sender;
};

struct Matching {
  std::vector<MatchedCollective> collectives;
  std::int64_t unmatched = 0;        // communication events without partners
  std::vector<std::string> remarks;  // "ranks 2 and 3 call 3 more all_reduce of group 1: ..."
};

/// Pairs by (group, sequence) where the recordings have both, by (group, order) where they have the
/// group, else by (role of the stream, kind, order). Groups whose counts differ between ranks are
/// left out with a remark, because a wrong pairing would blame the innocent.
Matching match_collectives(const Job& job);

// Communication kernels of all ranks in terms that the ranks share, sorted into channels within
// which they pair.

/// One rank's side of a collective or of a message.
struct Call {
  std::uint32_t rank = 0;   // index into Job::recordings
  std::uint32_t event = 0;  // index into its device_events
  attribution::CollectiveKind kind = attribution::CollectiveKind::unknown;
  std::optional<std::int64_t> sequence;
  std::optional<std::uint32_t> root;  // index into Job::recordings
};

/// Calls that can only pair with each other.
struct Channel {
  enum class Basis : std::uint8_t {
    group,     // metadata names the process group
    message,   // sender and receiver are known
    role,      // only the place of the stream is known: stream 1 of every rank
    timeline,  // a framework's timeline names the operation, the stage and the replica
  };
  Basis basis = Basis::role;
  std::string group;                   // as Communication::group; empty when none is known
  std::string label;                   // for people: "group 1", "messages from rank 0 to rank 1"
  std::vector<std::uint32_t> members;  // recordings that must take part; ascending
  /// Ranks that take part but left no recording.
  std::int64_t missing_members = 0;
  std::optional<std::uint32_t> sender;  // of messages
  std::vector<Call> calls;              // by rank, then in order of their starts
};

/// Whether `event` is communication, as the classification said.
bool is_communication(const DeviceEvent& event);

/// Every communication event of `job` in exactly one channel.
std::vector<Channel> collect_channels(const Job& job);

// Process groups of a job, one per set of ranks, whatever number each recording gave it.

class GroupTable {
 public:
  struct Group {
    std::string name;
    std::vector<std::int32_t> ranks;  // global, in the group's order; empty when unknown
    std::optional<std::int32_t> size;
  };

  explicit GroupTable(const Job& job);

  /// Of a group as recording `rank` names it.
  std::uint32_t index(std::uint32_t rank, NameId name) const { return by_name_[rank].at(name); }
  const Group& at(std::uint32_t index) const { return groups_.at(index); }
  /// The recording of the member that is `place` in the group's own order; without a list of ranks
  /// places are global ranks. Absent when that rank left no recording.
  std::optional<std::uint32_t> recording(std::uint32_t index, std::int32_t place) const;
  /// Of a rank of the job.
  std::optional<std::uint32_t> recording_of_rank(std::int32_t global) const;
  /// The recordings of the group's list of ranks, ascending.
  std::vector<std::uint32_t> recordings(std::uint32_t index) const;

 private:
  std::vector<Group> groups_;
  std::vector<std::map<NameId, std::uint32_t>> by_name_;       // by recording
  std::map<std::int32_t, std::uint32_t> recording_of_global_;  // global rank to recording
};

// Who takes part in an operation of a framework's own timeline, from the places of the ranks in
// pipeline and replicas and from the operation's name.

/// Ranks that meet in an operation; of a message exactly sender and receiver.
struct PipelineMeeting {
  std::vector<std::uint32_t> members;  // recordings, ascending
  std::optional<std::uint32_t> sender;
  std::string operation;  // the name without "-send", "-recv": equal on both sides
};

class PipelineLayout {
 public:
  explicit PipelineLayout(const Job& job);

  /// Whether the timeline says where in the pipeline `rank` stands.
  bool knows(std::uint32_t rank) const { return places_[rank].known; }

  /// Names as Megatron's timers give them. "forward-send" of a stage meets "forward-recv" of the
  /// next one, backward the other way round; an operation on the embedding joins the first and the
  /// last stage of a replica, the gradient norm ("clip") everybody, one on "layernorm" only the
  /// tensor-parallel ranks of a place, and all others the replicas of a stage.
  PipelineMeeting meeting(std::uint32_t rank,
                          attribution::CollectiveKind kind,
                          std::string_view name) const;

 private:
  struct Place {
    bool known = false;
    std::int32_t stage = 0;
    std::int32_t replica = 0;
    std::int32_t sibling = 0;  // the how-manieth recording of this place: tensor-parallel ranks
  };
  template <class Predicate>
  std::vector<std::uint32_t> all_where(Predicate predicate) const;

  std::vector<Place> places_;  // by recording
  std::int32_t stages_ = 1;
};
}  // namespace scaleworth::trace
