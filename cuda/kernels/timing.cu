// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/timing.h"

namespace scaleworth::gpu {
namespace {
__global__ void clock_stamp(std::uint64_t* stamps, unsigned slots, std::uint64_t batch) {
  std::uint64_t nanoseconds;
  std::uint64_t cycles;
  unsigned multiprocessor;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  if (multiprocessor >= slots) return;
  std::uint64_t* stamp = stamps + clock_stamp_words * multiprocessor;
  stamp[0] = nanoseconds;
  stamp[1] = cycles;
  stamp[2] = batch;
}

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
    __nanosleep(500);  // leaves the memory bus to others; small beside a batch of 20 ms
  }
}

__global__ void empty() {}
}  // namespace

cudaError_t launch_clock_stamp(
    std::uint64_t* stamps, int slots, std::uint64_t batch, int blocks, cudaStream_t stream) {
  clock_stamp<<<blocks, 1, 0, stream>>>(stamps, static_cast<unsigned>(slots), batch);
  return cudaGetLastError();
}

cudaError_t launch_stream_block(StreamBlockWords* words,
                                std::uint64_t batch,
                                std::uint64_t timeout_ns,
                                cudaStream_t stream) {
  stream_block<<<1, 1, 0, stream>>>(words, batch, timeout_ns);
  return cudaGetLastError();
}

cudaError_t launch_empty(cudaStream_t stream) {
  empty<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
}  // namespace scaleworth::gpu
