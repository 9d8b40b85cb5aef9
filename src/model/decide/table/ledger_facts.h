// SPDX-License-Identifier: Apache-2.0
/// What a job's recordings tell of one count beside its times and parts.
#pragma once

#include "src/core/attribution/efficiency.h"

#include <optional>
#include <string>

namespace scaleworth::decide {

struct LedgerFacts {
  int count = 1;
  /// POP factors; `runtime` and `useful` are those of one step.
  std::optional<attribution::Efficiency> factors;
  std::string no_factors;  // why they are absent
  double step_work = 1.0;  // of one step, over that of the smallest count
  /// For whom the others wait, how long and why: "rank 7, 5.0 ms of each step ..."; empty where
  /// nobody is named beyond doubt.
  std::string culprit;
};

}  // namespace scaleworth::decide
