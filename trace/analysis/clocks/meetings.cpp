// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/clocks/meetings.h"

#include <algorithm>

namespace scaleworth::trace {
namespace {

using attribution::CollectiveKind;

/// Ends differ the more the longer the transfer takes, but below some tens of microseconds other
/// things decide: eight V100 ended 1 to 7 us apart after transfers of 7 as of 86 us.
constexpr double shortest_useful_ns = 50e3;

bool everybody_needs_everybody(const MatchedCollective& matched) {
  switch (matched.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::barrier:
      return true;
    case CollectiveKind::send_receive:
      return !matched.sender;
    default:
      return false;
  }
}

class Finder {
 public:
  explicit Finder(const Job& job) : job_(job) {}

  void add(const MatchedCollective& matched) {
    if (everybody_needs_everybody(matched)) return add_meeting(matched);
    if (matched.sender && matched.members.size() == 2) {
      const MeetingSide sender = side(matched.members[*matched.sender]);
      precede(sender, side(matched.members[1 - *matched.sender]));
      return;
    }
    if (!matched.root) return;
    const bool from_root =
        matched.kind == CollectiveKind::broadcast || matched.kind == CollectiveKind::scatter;
    const bool to_root =
        matched.kind == CollectiveKind::reduce || matched.kind == CollectiveKind::gather;
    for (const MatchedCollective::Member& root : matched.members) {
      if (root.rank != *matched.root) continue;
      for (const MatchedCollective::Member& member : matched.members) {
        if (member.rank == root.rank) continue;
        if (from_root) precede(side(root), side(member));
        if (to_root) precede(side(member), side(root));
      }
    }
  }

  Meetings finish() { return std::move(found_); }

 private:
  MeetingSide side(const MatchedCollective::Member& member) const {
    const DeviceEvent& event = job_.recordings[member.rank].device_events.at(member.event);
    return {member.rank, event.start, event.end};
  }

  void precede(const MeetingSide& begins, const MeetingSide& ends) {
    found_.precedences.push_back({begins.rank, begins.start, ends.rank, ends.end});
  }

  void add_meeting(const MatchedCollective& matched) {
    nanoseconds shortest = nanoseconds::max();
    const std::size_t first = found_.sides.size();
    for (const MatchedCollective::Member& member : matched.members) {
      const MeetingSide& own = found_.sides.emplace_back(side(member));
      shortest = std::min(shortest, own.end - own.start);
    }
    // Durations need no common clock.
    const double weight =
        shortest_useful_ns / (shortest_useful_ns + static_cast<double>(shortest.count()));
    found_.meetings.push_back({first, matched.members.size(), weight});
  }

  const Job& job_;
  Meetings found_;
};

}  // namespace

Meetings find_meetings(const Job& job, const Matching& matching) {
  Finder finder(job);
  for (const MatchedCollective& matched : matching.collectives) finder.add(matched);
  return finder.finish();
}

}  // namespace scaleworth::trace
