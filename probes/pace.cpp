// SPDX-License-Identifier: Apache-2.0
#include "probes/pace.h"

namespace scaleworth::probes {

StoppingTarget target_of(const Pace& pace) {
  return {.relative_half_width = 0.01,
          .minimum_samples = pace.minimum_samples,
          .maximum_samples = 1000,
          .time_budget = pace.budget};
}

Seconds time_per_setting(const Pace& pace) {
  const Seconds sample = 0.7 * pace.budget / static_cast<double>(pace.minimum_samples);
  return 0.8 * pace.budget + 1.5 * sample;
}

}  // namespace scaleworth::probes
