// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/clock_stamps.h"

#include <algorithm>
#include <vector>

namespace scaleworth::probes {

std::optional<double> clock_between(std::span<const ClockStamp> before,
                                    std::span<const ClockStamp> after,
                                    std::uint64_t batch) {
  constexpr std::uint64_t shortest_ns = 500'000;
  std::vector<double> clocks;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const ClockStamp& first = before[i];
    const ClockStamp& last = after[i];
    if (first.batch != batch || last.batch != batch) continue;
    if (last.nanoseconds < first.nanoseconds + shortest_ns || last.cycles <= first.cycles) continue;
    clocks.push_back(1e9 * static_cast<double>(last.cycles - first.cycles) /
                     static_cast<double>(last.nanoseconds - first.nanoseconds));
  }
  if (clocks.empty()) return std::nullopt;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle;
}

}  // namespace scaleworth::probes
