// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/empty.h"

namespace scaleworth::gpu {
namespace {

__global__ void empty() {}

}  // namespace

cudaError_t launch_empty(cudaStream_t stream) {
  empty<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
