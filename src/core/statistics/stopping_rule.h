// SPDX-License-Identifier: Apache-2.0
/// When to stop sampling: an object that is fed numbers and says when, and why, it has enough.
#pragma once

#include "src/core/units.h"

#include <cstddef>
#include <string>
#include <vector>

namespace scaleworth {

struct StoppingTarget {
  /// Half-width of the 95 % order-statistic interval of the median, relative to the median.
  double relative_half_width = 0.01;
  std::size_t minimum_samples = 7;
  std::size_t maximum_samples = 1000;
  /// Time spent in samples (their sum), not wall time.
  Seconds time_budget{1.0};
};

/// Feed one duration per sample; stop as soon as `finished()`.
class StoppingRule {
 public:
  enum class Reason { running, converged, maximum_samples, time_budget };

  explicit StoppingRule(StoppingTarget target);
  /// `sample` must be finite and positive, else ProbeFailure (a clock that stands still, a NaN).
  /// `spent` is the time the sample took to get, where it differs from the value (a batch of
  /// operations).
  void add(Seconds sample, Seconds spent);
  void add(Seconds sample) { add(sample, sample); }
  bool finished() const { return reason_ != Reason::running; }
  Reason reason() const { return reason_; }
  /// One line for the record: "converged: median within 0.8 % after 12 samples".
  std::string explanation() const;
  const std::vector<double>& samples() const { return samples_; }

 private:
  StoppingTarget target_;
  Reason reason_ = Reason::running;
  double reached_half_width_ = 0.0;  // relative; meaningless before an interval exists
  std::vector<double> samples_;
  Seconds spent_{};
};

}  // namespace scaleworth
