// SPDX-License-Identifier: Apache-2.0
/// NCCL's calls of the capture library.
#pragma once

#include "cuda/nccl/plugins/profiler_interface.h"

namespace scaleworth::gpu {

/// The table of functions that NCCL looks for; every one of them succeeds whatever happens.
NcclProfilerV5 nccl_profiler();

}  // namespace scaleworth::gpu
