// SPDX-License-Identifier: Apache-2.0
/// Why GPUs cannot be used, in words for a person.
#pragma once

#include "src/core/outcome.h"

#include <string>
#include <variant>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// What it means that counting the GPUs failed with `status`. `driver` is the CUDA version that the
/// driver supports as cudaDriverGetVersion tells it, 0 without a driver; `runtime` the one this
/// program was built with. Skipped where there is no GPU to use, Failed where there is one and
/// something is broken; both name the remedy.
std::variant<Skipped, Failed> explain_no_gpus(cudaError_t status, int driver, int runtime);

/// How many GPUs this process sees, at least one; otherwise as explain_no_gpus.
Outcome<int> count_gpus();

}  // namespace scaleworth::gpu
