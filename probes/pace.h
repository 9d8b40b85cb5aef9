// SPDX-License-Identifier: Apache-2.0
/// How long one setting of a probe is sampled, and what that costs.
#pragma once

#include "src/core/statistics/stopping_rule.h"
#include "src/core/units.h"

#include <cstddef>

namespace scaleworth::probes {

struct Pace {
  Seconds budget;               // the stopping rule's
  std::size_t minimum_samples;  // fit 70 % of the budget
};
StoppingTarget target_of(const Pace& pace);

/// Time of one setting at this pace: samples (the stopping rule ends at 70 % of the budget on a
/// quiet machine, at 100 % otherwise) and the calibration before them.
Seconds time_per_setting(const Pace& pace);

}  // namespace scaleworth::probes
