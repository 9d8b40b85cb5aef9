// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/timing/stream_block.h"

namespace scaleworth::gpu {
namespace {

__device__ std::uint64_t global_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void stream_block(volatile StreamBlockWords* words,
                             std::uint64_t batch,
                             std::uint64_t timeout_ns) {
  const std::uint64_t start = global_nanoseconds();
  while (words->released < batch) {
    if (global_nanoseconds() - start > timeout_ns) {
      words->gave_up = batch;
      __threadfence_system();
      return;
    }
    __nanosleep(500);
  }
}

}  // namespace

cudaError_t launch_stream_block(StreamBlockWords* words,
                                std::uint64_t batch,
                                std::uint64_t timeout_ns,
                                cudaStream_t stream) {
  stream_block<<<1, 1, 0, stream>>>(words, batch, timeout_ns);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
