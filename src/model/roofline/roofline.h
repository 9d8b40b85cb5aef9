// SPDX-License-Identifier: Apache-2.0
/// The roofline of a run: ceilings, memory levels, soft roofs and placed kernels.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"
#include "src/model/roofline/levels.h"

#include <optional>
#include <vector>

namespace scaleworth::model {

/// The data and unified caches that the run's environment names in section "cpu":
/// "l1_data_cache_bytes", "l2_cache_bytes", ... (of one instance) and "l2_cache_count" (instances).
/// Smallest first; empty when it names none.
std::vector<CacheCapacity> cache_capacities(const Run& run);

/// Everything that follows from the roofline.* probes of `run`; each may be missing, or end early.
/// Absent when none of them has a point. `warnings` says what could not be concluded and why.
/// Throws UserError naming the field when a point is incomplete.
std::optional<RooflineResult> analyse_roofline(const Run& run);

/// As above with the caches given.
std::optional<RooflineResult> analyse_roofline(const Run& run,
                                               const std::vector<CacheCapacity>& caches);

}  // namespace scaleworth::model
