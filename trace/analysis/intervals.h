// SPDX-License-Identifier: Apache-2.0
/// Sets of instants: sorted, disjoint, half-open ranges of time.
#pragma once

#include "src/core/units.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace scaleworth::trace {
/// [start, end); empty ones do not occur in an IntervalSet.
struct TimeInterval {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

inline double in_ns(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count());
}

inline std::chrono::nanoseconds rounded_ns(double time) {
  return std::chrono::nanoseconds(saturated<std::int64_t>(std::round(time)));
}

/// Contains nothing: what `extend` begins with.
inline constexpr TimeInterval no_time{std::chrono::nanoseconds::max(),
                                      std::chrono::nanoseconds::min()};
/// Makes `all` reach over `more` too.
inline void extend(TimeInterval& all, const TimeInterval& more) {
  all.start = std::min(all.start, more.start);
  all.end = std::max(all.end, more.end);
}

/// Calls work(range, start, end) for each of `ranges`, disjoint and in order, of which [start, end)
/// lies within `window`.
template <class Range, class Work>
void for_each_within(const std::vector<Range>& ranges, TimeInterval window, Work work) {
  if (window.end <= window.start) return;
  auto range = std::ranges::upper_bound(ranges, window.start, {}, &Range::end);
  for (; range != ranges.end() && range->start < window.end; ++range)
    work(*range, std::max(range->start, window.start), std::min(range->end, window.end));
}

class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of `ranges`, in any order; those that do not end after their start are left out.
  explicit IntervalSet(std::vector<TimeInterval> ranges);

  const std::vector<TimeInterval>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  /// Total length.
  std::chrono::nanoseconds length() const;

  /// The part within [start, end).
  IntervalSet within(TimeInterval window) const;

 private:
  std::vector<TimeInterval> ranges_;
};

/// Adds `value` to `sum`, which stays within +-2^61 ns, 73 years: no recording reaches that.
inline void add_bounded(std::chrono::nanoseconds& sum, std::chrono::nanoseconds value) {
  constexpr std::chrono::nanoseconds limit{std::int64_t{1} << 61};  // two of them fit 64 bits
  sum = std::clamp(sum + std::clamp(value, -limit, limit), -limit, limit);
}

/// The middle value, of an even number the larger of the two; `values` must not be empty.
template <class Value>
Value upper_median(std::vector<Value> values) {
  const auto middle = values.begin() + (values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The largest and the second largest of what is added, and whose the largest is: the first one's
/// among equals.
struct TopTwo {
  std::chrono::nanoseconds first = std::chrono::nanoseconds::min();
  std::chrono::nanoseconds second = std::chrono::nanoseconds::min();
  std::optional<std::uint32_t> owner{};

  void add(std::uint32_t one, std::chrono::nanoseconds value) {
    if (!owner || value > first) {
      second = first;
      first = value;
      owner = one;
    } else {
      second = std::max(second, value);
    }
  }
};

/// So many pieces of work pass between looks at a request to stop.
inline constexpr std::uint32_t interrupt_every = 1U << 20;

/// Calls work(0) to work(count - 1), each once, in any order and several at a time: as many as
/// there are processors, but not more than `at_once` unless that is 0. Rethrows the exception of
/// the lowest index that failed, after all running calls have ended; those not begun by then are
/// left out. Where the system gives no more threads it goes on with fewer.
void for_each_index(std::size_t count,
                    const std::function<void(std::size_t)>& work,
                    std::size_t at_once = 0);
}  // namespace scaleworth::trace
