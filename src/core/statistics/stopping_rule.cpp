// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/stopping_rule.h"

#include "src/core/error.h"
#include "src/core/statistics/interval.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth {

StoppingRule::StoppingRule(StoppingTarget target) : target_(target) {}

void StoppingRule::add(Seconds sample, Seconds spent) {
  if (!std::isfinite(sample.value()) || sample.value() <= 0.0) {
    throw ProbeFailure(fmt::format(
        "a timing of {} s is no duration: the clock or the kernel is broken", sample.value()));
  }
  samples_.push_back(sample.value());
  spent_ += spent;
  if (samples_.size() < target_.minimum_samples) {
    // A single sample may cost more than the budget; the minimum is then given up, and said.
    if (spent_ >= 4.0 * target_.time_budget) reason_ = Reason::time_budget;
    return;
  }
  // Sorting at every sample would cost n^2 log n; from 64 samples on every 16th decides.
  if (samples_.size() < 64 || samples_.size() % 16 == 0) {
    const Estimate<double> estimate = median_estimate(samples_);
    if (estimate.interval) {
      reached_half_width_ =
          (estimate.interval->high - estimate.interval->low) / 2.0 / estimate.value;
      if (reached_half_width_ <= target_.relative_half_width) reason_ = Reason::converged;
    }
  }
  if (reason_ != Reason::running) return;
  if (samples_.size() >= target_.maximum_samples) reason_ = Reason::maximum_samples;
  if (spent_ >= target_.time_budget) reason_ = Reason::time_budget;
}

std::string StoppingRule::explanation() const {
  const std::size_t count = samples_.size();
  const std::string width = reached_half_width_ > 0.0 || reason_ == Reason::converged
                                ? fmt::format("median within {:.2g} %", 100.0 * reached_half_width_)
                                : std::string("too few samples for an interval");
  switch (reason_) {
    case Reason::running:
      return fmt::format("not finished after {} samples", count);
    case Reason::converged:
      return fmt::format("converged: {} after {} samples", width, count);
    case Reason::maximum_samples:
      return fmt::format("maximum of {} samples: {}", count, width);
    case Reason::time_budget:
      return fmt::format("time budget of {:.3g} s spent after {} samples: {}",
                         target_.time_budget.value(),
                         count,
                         width);
  }
  return {};
}

}  // namespace scaleworth
