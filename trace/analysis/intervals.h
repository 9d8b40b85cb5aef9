// SPDX-License-Identifier: Apache-2.0
/// Sets of instants: sorted, disjoint, half-open ranges of time.
#pragma once

#include <chrono>
#include <vector>

namespace scaleworth::trace {

/// [start, end); empty ones do not occur in an IntervalSet.
struct TimeInterval {
  std::chrono::nanoseconds start{};
  std::chrono::nanoseconds end{};
};

class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of `ranges`, in any order; those that do not end after their start are left out.
  explicit IntervalSet(std::vector<TimeInterval> ranges);

  const std::vector<TimeInterval>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  /// Total length.
  std::chrono::nanoseconds length() const;

  IntervalSet united(const IntervalSet& other) const;
  IntervalSet intersected(const IntervalSet& other) const;
  IntervalSet without(const IntervalSet& other) const;
  /// The part within [start, end).
  IntervalSet within(TimeInterval window) const;

 private:
  std::vector<TimeInterval> ranges_;
};

}  // namespace scaleworth::trace
