// SPDX-License-Identifier: Apache-2.0
#include "probes/pace.h"

#include <algorithm>

namespace scaleworth::probes {

StoppingTarget target_of(const Pace& pace) {
  return {.relative_half_width = 0.01,
          .minimum_samples = pace.minimum_samples,
          .maximum_samples = 1000,
          .time_budget = pace.budget};
}

Seconds time_per_setting(const Pace& pace, Seconds operation) {
  const auto minimum = static_cast<double>(pace.minimum_samples);
  const Seconds sample = std::max(0.7 * pace.budget / minimum, operation);
  // The stopping rule gives the minimum up at four times the budget.
  const Seconds samples = std::min(minimum * operation, 4.0 * pace.budget + operation);
  return std::max(0.8 * pace.budget, samples) + 1.5 * sample;
}

}  // namespace scaleworth::probes
