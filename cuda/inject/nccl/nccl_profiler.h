// SPDX-License-Identifier: Apache-2.0
/// NCCL's calls of the capture library.
#pragma once

#include "cuda/nccl/plugins/profiler_interface.h"

namespace scaleworth::gpu {

/// The tables of functions that NCCL looks for, 2.28 the newer one and 2.27 the older; every one of
/// them succeeds whatever happens.
NcclProfilerV4 nccl_profiler_v4();
NcclProfilerV5 nccl_profiler_v5();

}  // namespace scaleworth::gpu
