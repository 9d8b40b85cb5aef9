// SPDX-License-Identifier: Apache-2.0
/// Communication kernels of all ranks in terms that the ranks share, sorted into channels within
/// which they pair.
#pragma once

#include "src/core/attribution/work_class.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::trace {

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

}  // namespace scaleworth::trace
