// SPDX-License-Identifier: Apache-2.0
/// Collectives as clocks see them: ends that agree, and ends that cannot come before begins.
#pragma once

#include "trace/analysis/collectives/match.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <span>
#include <vector>

namespace scaleworth::trace {

/// One rank's part of a collective, on the rank's own clock.
struct MeetingSide {
  std::uint32_t rank = 0;
  nanoseconds start{};
  nanoseconds end{};
};

/// Event `before` of one rank happened no later than event `after` of another.
struct Precedence {
  std::uint32_t before_rank = 0;
  nanoseconds before{};
  std::uint32_t after_rank = 0;
  nanoseconds after{};
};

struct Meetings {
  /// A collective in which everybody needs everybody: all end at about the same time, and nobody
  /// before the last begins.
  struct Meeting {
    std::size_t first = 0;  // into `sides`
    std::size_t count = 0;
    /// Of the ends' agreement: it is the tighter the shorter the transfer.
    double weight = 1.0;
  };
  std::vector<Meeting> meetings;
  std::vector<MeetingSide> sides;
  /// Of broadcasts, reductions to a root and messages.
  std::vector<Precedence> precedences;

  std::span<const MeetingSide> sides_of(const Meeting& meeting) const {
    return std::span(sides).subspan(meeting.first, meeting.count);
  }
};

Meetings find_meetings(const Job& job, const Matching& matching);

}  // namespace scaleworth::trace
