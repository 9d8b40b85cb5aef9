// SPDX-License-Identifier: Apache-2.0
/// Waiting charged to the ranks where it began: a rank that came late because it had itself waited
/// passes that part on.
#pragma once

#include "trace/analysis/culprits/delays.h"
#include "trace/analysis/culprits/excess.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace scaleworth::trace {

struct Charges {
  /// Nanoseconds of exposed waiting, by rank; sums to the exposed waiting of all delays.
  std::vector<double> cost;
  std::map<std::int32_t, std::vector<double>> by_step;  // the same by step number, then rank
};

/// Of a delay's cost the share that its late rank spent waiting longer than the rank it is compared
/// with goes onward to the delays that it waited for, by their lengths; so from the last delay back
/// to the first. After Boehme et al., "Identifying the Root Causes of Wait States in Large-Scale
/// Parallel Applications", ACM TOPC 3(2), 2016 (delay costs and their propagation).
Charges charge_delays(const std::vector<Delay>& delays,
                      const std::vector<std::optional<Excess>>& excess,
                      std::size_t ranks);

}  // namespace scaleworth::trace
