// SPDX-License-Identifier: Apache-2.0
/// From each rank's clock to the common one.
#pragma once

#include "src/core/attribution/attribution.h"
#include "src/core/span.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace scaleworth::trace {

/// Damaged recordings may hold any time within +-2^61 ns: with offsets this small, times on the
/// common clock and their differences cannot overflow.
inline std::chrono::nanoseconds bounded_offset(std::chrono::nanoseconds offset) {
  constexpr std::chrono::nanoseconds limit{2'100'000'000'000'000'000};
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
  const RankClock& clock(std::size_t rank) const { return clocks_.at(rank); }
  /// Monotonic for every rank: |drift| is far below 1.
  std::chrono::nanoseconds to_common(std::size_t rank, std::chrono::nanoseconds time) const {
    const RankClock& clock = clocks_.at(rank);
    if (clock.drift == 0.0) return time + clock.offset;
    const auto since = static_cast<double>((time - clock.reference).count());
    return time + clock.offset +
           std::chrono::nanoseconds(static_cast<std::int64_t>(clock.drift * since));
  }

 private:
  std::vector<RankClock> clocks_;
};

}  // namespace scaleworth::trace
