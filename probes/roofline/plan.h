// SPDX-License-Identifier: Apache-2.0
/// What the roofline probes ask for, in which order, and how long that takes: measuring and
/// estimating walk the same lists.
#pragma once

#include "probes/machine.h"
#include "probes/pace.h"
#include "probes/registry.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

/// 1 and, where there are more, all workers.
std::vector<int> worker_counts(const Setting& setting);

Pace compute_pace(Suite suite);
Pace memory_pace(Suite suite);
Pace latency_pace(Suite suite);
Pace intensity_pace(Suite suite);

/// Bytes per worker from which streams go: 4 KiB, then by a constant factor up to 4 times the last
/// cache divided by the workers, or less where memory is short: `workers` workers use at most an
/// eighth of what is available, because sources and targets are kept apart and two worker counts
/// share them. Multiples of 1 KiB, ascending.
std::vector<Bytes> working_sets(const Setting& setting, int workers);

/// Says that the sets end below 4 times the last cache because of memory; absent when they do not.
std::optional<std::string> memory_shortage(const Setting& setting, int workers);

/// In the order to measure: random, so that a drift of the machine becomes noise along the size
/// axis, but the largest set is read and written first, so that memory is touched once.
std::vector<MemoryWork> memory_plan(const Setting& setting);
std::vector<LatencyWork> latency_plan(const Setting& setting);
/// Grouped by worker count and precision, because each group fills its memory anew.
std::vector<IntensityWork> intensity_plan(const Setting& setting);
std::vector<FmaWork> compute_plan(const Setting& setting, const std::vector<std::string>& isas);

}  // namespace scaleworth::probes
