// SPDX-License-Identifier: Apache-2.0
/// Sums of times that damaged recordings cannot overflow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace scaleworth::trace {

/// Adds `value` to `sum`, which stays within +-2^61 ns, 73 years: no recording reaches that.
inline void add_bounded(std::chrono::nanoseconds& sum, std::chrono::nanoseconds value) {
  constexpr std::chrono::nanoseconds limit{std::int64_t{1} << 61};
  sum = std::clamp(sum + std::clamp(value, -limit, limit), -limit, limit);
}

}  // namespace scaleworth::trace
