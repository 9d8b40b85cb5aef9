// SPDX-License-Identifier: Apache-2.0
/// What GPUs this node has. Two definitions exist; which one is linked decides (link-time seam):
/// cuda/machine/gpu_facts.cpp in a CUDA build, probes/host/gpu_absent.cpp otherwise.
#pragma once

#include "src/core/outcome.h"
#include "src/core/run/record.h"

#include <vector>

namespace scaleworth::probes {

/// One section per GPU ("gpu 0", "gpu 1", ...: name, UUID, compute capability, SMs, memory, driver
/// and runtime versions). Skipped with the reason when there is none, no driver, or no CUDA in this
/// build.
Outcome<std::vector<FactSection>> gpu_facts();

}  // namespace scaleworth::probes
