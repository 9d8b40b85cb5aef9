// SPDX-License-Identifier: Apache-2.0
/// The clock of multiprocessors from two readings of their cycle counters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace scaleworth::probes {

/// What one multiprocessor wrote; slot i belongs to multiprocessor i. `batch` tells whether the
/// slot was written for this batch or is left over from an earlier one.
struct ClockStamp {
  std::uint64_t nanoseconds = 0;  // the GPU's global timer
  std::uint64_t cycles = 0;       // this multiprocessor's counter
  std::uint64_t batch = 0;
};

/// Median over multiprocessors with both stamps of `batch`: cycles between them / time between
/// them. Absent when there is none, or when less than half a millisecond passed: the timer steps by
/// up to a microsecond.
std::optional<double> clock_between(std::span<const ClockStamp> before,
                                    std::span<const ClockStamp> after,
                                    std::uint64_t batch);

}  // namespace scaleworth::probes
