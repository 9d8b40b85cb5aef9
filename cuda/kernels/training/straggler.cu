// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/training/straggler.h"

namespace scaleworth::gpu {
namespace {

constexpr std::uint64_t longest_ns = 10'000'000'000;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void write_mark(std::uint64_t* mark) {
  *mark = nanoseconds();
}

__global__ void draw_out(const std::uint64_t* mark, double factor) {
  const std::uint64_t start = *mark;
  const auto wanted =
      static_cast<std::uint64_t>(static_cast<double>(nanoseconds() - start) * factor);
  const std::uint64_t end = start + (wanted < longest_ns ? wanted : longest_ns);
  while (nanoseconds() < end) __nanosleep(500);
}

}  // namespace

cudaError_t launch_mark(std::uint64_t* mark, cudaStream_t stream) {
  write_mark<<<1, 1, 0, stream>>>(mark);
  return cudaGetLastError();
}

cudaError_t launch_draw_out(const std::uint64_t* mark, double factor, cudaStream_t stream) {
  draw_out<<<1, 1, 0, stream>>>(mark, factor);
  return cudaGetLastError();
}

}  // namespace scaleworth::gpu
