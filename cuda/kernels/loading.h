// SPDX-License-Identifier: Apache-2.0
/// The list of this program's kernels, and loading them before they are launched.
#pragma once

#include <vector>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
struct ProgramKernel {
  const void* function = nullptr;  // as the runtime knows it
  const char* name = nullptr;      // mangled
};

/// Every kernel that is linked into this program: whatever nvcc's code registers with the runtime
/// when the program starts, so that none can be forgotten.
const std::vector<ProgramKernel>& program_kernels();

/// Loads them on the current GPU; to be called before ranks communicate. Otherwise a kernel's first
/// launch loads it, and that may wait for all that runs on the GPU: for a collective, too, which in
/// its turn waits for what another rank of this process cannot launch meanwhile. Source: CUDA C++
/// programming guide, "Lazy Loading", concurrent execution.
cudaError_t load_kernels();
}  // namespace scaleworth::gpu
