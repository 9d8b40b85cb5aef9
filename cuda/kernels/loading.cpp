// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/loading.h"

#include <vector_types.h>

namespace scaleworth::gpu {
namespace {
/// Filled before main, in whatever order the files' initialisers run.
std::vector<ProgramKernel>& kernels() {
  static std::vector<ProgramKernel> all;
  return all;
}
}  // namespace

// What nvcc's code calls for each kernel before main (crt/host_runtime.h of CUDA 12 and 13). The
// linker sends it here (--wrap), because the runtime has no question for the list.
using RegisterFunction =
    void(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
RegisterFunction register_kernel __asm__("__wrap___cudaRegisterFunction");
RegisterFunction runtime_register __asm__("__real___cudaRegisterFunction");

void register_kernel(void** module,
                     const char* function,
                     char* device_function,
                     const char* name,
                     int thread_limit,
                     uint3* thread,
                     uint3* block,
                     dim3* block_size,
                     dim3* grid_size,
                     int* warp_size) {
  kernels().push_back({function, name});
  runtime_register(module,
                   function,
                   device_function,
                   name,
                   thread_limit,
                   thread,
                   block,
                   block_size,
                   grid_size,
                   warp_size);
}

const std::vector<ProgramKernel>& program_kernels() {
  return kernels();
}

cudaError_t load_kernels() {
  for (const ProgramKernel& kernel : kernels()) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, kernel.function);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}
}  // namespace scaleworth::gpu
