// SPDX-License-Identifier: Apache-2.0
/// How the clocks of ranks map to one another, and how that map is fitted.
#pragma once

#include "src/core/units.h"
#include "trace/analysis/matching.h"

#include <span>

namespace scaleworth::trace {
/// Damaged recordings may hold any time within +-2^61 ns: with offsets this small, times on the
/// common clock and their differences cannot overflow.
inline std::chrono::nanoseconds bounded_offset(std::chrono::nanoseconds offset) {
  constexpr std::chrono::nanoseconds limit{2'100'000'000'000'000'000};  // 2^63 - 3 x 2^61 = 2.3e18
  return std::clamp(offset, -limit, limit);
}

/// common(t) = t + offset + drift * (t - reference)
class ClockMap {
 public:
  struct RankClock {
    std::chrono::nanoseconds offset{};
    double drift = 0.0;
    std::chrono::nanoseconds reference{};
  };

  ClockMap() = default;
  /// Clocks that agree: every rank's is the common one.
  explicit ClockMap(std::size_t ranks) : clocks_(ranks) {}
  explicit ClockMap(std::vector<RankClock> clocks) : clocks_(std::move(clocks)) {}

  std::size_t ranks() const { return clocks_.size(); }
  RankClock& clock(std::size_t rank) { return clocks_.at(rank); }
  const RankClock& clock(std::size_t rank) const { return clocks_.at(rank); }
  /// Monotonic for every rank: |drift| is far below 1.
  std::chrono::nanoseconds to_common(std::size_t rank, std::chrono::nanoseconds time) const {
    const RankClock& clock = clocks_.at(rank);
    if (clock.drift == 0.0) return time + clock.offset;
    const auto since = static_cast<double>((time - clock.reference).count());
    return time + clock.offset +
           std::chrono::nanoseconds(saturated<std::int64_t>(clock.drift * since));
  }

 private:
  std::vector<RankClock> clocks_;
};

/// Offsets and drifts of the ranks' clocks, found from collectives that end together.
struct Alignment {
  ClockMap map;
  ClockReport report;
  /// By rank: equal numbers for ranks whose times can be compared. Empty: all can.
  std::vector<std::uint32_t> component;

  bool share_a_clock(std::uint32_t a, std::uint32_t b) const {
    return component.empty() || component.at(a) == component.at(b);
  }
};

/// Robust fit of one offset, and where the data show it a drift, per rank: the ends of a
/// synchronizing collective agree, and none ends before the last one begins (hard, as far as the
/// recordings allow it together). Ranks without common collectives make the clocks not comparable.
Alignment align_clocks(const Job& job, const Matching& matching);

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

/// Collectives as clocks see them: ends that agree, and ends that cannot come before begins.
struct Meetings {
  /// A collective in which every rank needs every other: all end at about the same time, and none
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

/// What ties a rank's clock to those placed before it.
enum class ClockTie : std::uint8_t {
  reference,  // the first of its component
  meetings,   // ends of collectives
  messages,   // only messages in both directions: between the bounds, with half their distance
  one_clock,  // the same host: taken as the same clock
};

/// First guess of the clocks: how far each rank's lies from the others', and which ranks can be
/// compared at all.
struct Placement {
  std::vector<nanoseconds> offsets;      // by rank, to the clock of the component's first
  std::vector<std::uint32_t> component;  // by rank; ranks of one can be compared
  std::vector<ClockTie> ties;            // by rank
  std::vector<nanoseconds> half_widths;  // by rank; of messages only
  std::uint32_t components = 0;
};

/// Starting from `placement`: minimises the distances of every rank's ends from the median end of
/// each collective, weighted by Meeting::weight, over one offset per rank (by medians); and over a
/// drift (by Huber's loss) for ranks where that is significant (5 standard errors), matters over
/// the recording, and has at least `fewest_for_drift` collectives. The first rank of every
/// component keeps its own clock.
inline constexpr std::size_t fewest_for_drift = 16;
ClockMap refine_clocks(const Meetings& meetings, const Placement& placement);

/// `clocks` moved as little as the laws ask for: no participant of a collective ends before the
/// last one begins, no message arrives before it is sent. Where the laws contradict each other, the
/// largest breach is made smallest.
ClockMap obey_causality(const Meetings& meetings, const Placement& placement, ClockMap clocks);

/// How far each rank's clock could be moved down and up, all others held, without breaking a law:
/// (low, high), low > high where they contradict. Absent where nothing bounds one of them.
struct Freedom {
  std::optional<nanoseconds> low;
  std::optional<nanoseconds> high;

  void raise(nanoseconds value) { low = std::max(low.value_or(value), value); }
  void lower(nanoseconds value) { high = std::min(high.value_or(value), value); }
  /// Absent where that is without bound.
  std::optional<nanoseconds> half_width() const {
    if (!low || !high) return std::nullopt;
    return std::chrono::abs(*high - *low) / 2;
  }
};
std::vector<Freedom> freedom_of(const Meetings& meetings, const ClockMap& clocks);

/// Ends of participants more than `error` before the last begin of their collective.
std::int64_t count_violations(const Meetings& meetings, const ClockMap& clocks, nanoseconds error);

/// A value seen at `at` (any unit; only for slopes).
struct WeightedValue {
  double value = 0.0;
  double weight = 1.0;
  double at = 0.0;
};

/// The smallest value below or at which at least the share `p` of all weight lies. Absent for no
/// values.
std::optional<double> weighted_quantile(std::vector<WeightedValue> values, double p);

/// 1.4826 * weighted median of |v_i - m|, m the weighted median of v: sigma of a normal.
double robust_scale(std::vector<WeightedValue> values);

struct RobustSlope {
  double slope = 0.0;
  double standard_error = 0.0;
  double span = 0.0;  // of `at`
};
/// Slope of value over `at`, with the weights that Huber's rho gives the residuals of each pass.
/// Absent for fewer than three values and without spread of `at`.
std::optional<RobustSlope> huber_slope(const std::vector<WeightedValue>& values);
}  // namespace scaleworth::trace
