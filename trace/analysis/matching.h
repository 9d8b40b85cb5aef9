// SPDX-License-Identifier: Apache-2.0
/// Which kernels of different ranks are one collective.
#pragma once

#include "trace/recording.h"

namespace scaleworth::trace {
/// Who needs whom in an operation.
enum class Exchange : std::uint8_t { all, from_root, to_root, message, unknown };
Exchange exchange_of(CollectiveKind kind);

/// Which communication kernels of different ranks are one and the same collective.
struct MatchedCollective {
  CollectiveKind kind = CollectiveKind::unknown;
  std::string group;       // as Communication::group; empty when matched by order
  std::int64_t index = 0;  // the how-manieth of its group or stream role
  struct Member {
    Place place;              // in Job::recordings
    std::uint32_t event = 0;  // index into its device_events
  };
  std::vector<Member> members;  // by rank, at least two, each rank once
  bool complete = true;         // false: more ranks take part, which left no recording
  std::optional<Place> root;    // in Job::recordings, of a one-sided collective
  /// Of a send/receive pair: members[sender] sends.
  std::optional<std::uint32_t> sender;
};

struct Matching {
  std::vector<MatchedCollective> collectives;
  std::int64_t unmatched = 0;    // communication events without partners
  std::vector<Finding> remarks;  // calls that are left out
};

/// Pairs by (group, sequence) where the recordings have both, by (group, order) where they have the
/// group, else by (role of the stream, kind, order). Groups whose counts differ between ranks, or
/// that fit another order as well, are left out with a remark: a wrong pairing names a wrong rank.
Matching match_collectives(const Job& job);
}  // namespace scaleworth::trace
