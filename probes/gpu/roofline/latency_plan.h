// SPDX-License-Identifier: Apache-2.0
/// Which pointer chases are asked of a GPU.
#pragma once

#include "probes/gpu/roofline/plan.h"

#include <vector>

namespace scaleworth::probes {

Pace device_latency_pace(Suite suite);

/// In random order: one node per line of 128 bytes over sets from 4 KiB to the larger of 4 times
/// the L2 cache and 256 MiB, or a quarter of the available memory; standard suite: and one node per
/// 2 MiB from 64 MiB to half of the available memory, in which the reach of the TLBs shows. A
/// glance is the largest set by lines.
std::vector<ChaseWork> chase_plan(const PlannedDevice& planned);

/// Building the cycle on the host.
Seconds chase_preparation(const ChaseWork& work);

}  // namespace scaleworth::probes
