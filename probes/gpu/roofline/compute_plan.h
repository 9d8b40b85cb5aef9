// SPDX-License-Identifier: Apache-2.0
/// What is asked of a GPU's arithmetic: ceilings in registers, the ladder of intensities, launches.
#pragma once

#include "probes/gpu/roofline/plan.h"

#include <vector>

namespace scaleworth::probes {

Pace device_compute_pace(Suite suite);
Pace device_intensity_pace(Suite suite);
Pace device_launch_pace(Suite suite);

/// Every format with an FMA of the CUDA cores, then every one with a tensor-core product, fp8
/// where it has an instruction for all warps (8.9, 12.0 and later); a glance is fp32 on the CUDA
/// cores.
std::vector<DeviceFma> device_compute_plan(const PlannedDevice& planned);

/// Rungs 1 to 512 in random order, one format after the other because each fills the memory anew:
/// fp32, fp64; standard suite: and the 16-bit formats. The set is four times the L2 cache, or a
/// quarter of the available memory where that is less. Nothing for a glance.
std::vector<LadderWork> device_intensity_plan(const PlannedDevice& planned);

/// Nothing for a glance.
std::vector<LaunchKind> device_launch_plan(const PlannedDevice& planned);

}  // namespace scaleworth::probes
