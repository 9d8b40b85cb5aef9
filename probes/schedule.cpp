// SPDX-License-Identifier: Apache-2.0
#include "probes/schedule.h"

#include "src/core/error.h"

#include <algorithm>

namespace scaleworth::probes {
const char* suite_name(Suite suite) {
  return suite == Suite::quick ? "quick" : "standard";
}

Suite parse_suite(const std::string& name) {
  if (name == "quick") return Suite::quick;
  if (name == "standard") return Suite::standard;
  throw UserError("unknown suite '" + name + "': use quick or standard");
}

StoppingTarget target_of(const Pace& pace) {
  return {.relative_half_width = 0.01,
          .minimum_samples = pace.minimum_samples,
          .maximum_samples = 1000,
          .time_budget = pace.budget};
}

Seconds fitting_sample(const StoppingTarget& target) {
  const std::size_t least = std::max<std::size_t>(1, target.minimum_samples);
  return 0.7 * target.time_budget / static_cast<double>(least);
}

Seconds time_per_setting(const Pace& pace) {
  return 0.85 * pace.budget + 1.5 * fitting_sample(target_of(pace));
}
}  // namespace scaleworth::probes
