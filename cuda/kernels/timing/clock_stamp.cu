// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/timing/clock_stamp.h"

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

}  // namespace

cudaError_t launch_clock_stamp(
    std::uint64_t* stamps, int slots, std::uint64_t batch, int blocks, cudaStream_t stream) {
  clock_stamp<<<blocks, 1, 0, stream>>>(stamps, static_cast<unsigned>(slots), batch);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
