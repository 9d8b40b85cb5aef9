// SPDX-License-Identifier: Apache-2.0
/// A kernel that does nothing: what remains is the launch.
#pragma once

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// One block of one thread.
cudaError_t launch_empty(cudaStream_t stream);

}  // namespace scaleworth::gpu
