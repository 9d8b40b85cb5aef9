// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline/formats.cuh"
#include "cuda/kernels/roofline/ladder.h"

namespace scaleworth::gpu {
namespace {

constexpr int unroll = 4;
constexpr int longest_round = 64;

struct Work {
  uint4* data;
  std::uint64_t vectors;
  int rounds;
  double a;
  double b;
};

/// `count` vectors in registers: `rounds` rounds of `length` steps of all their chains.
template <class Format, int length, int count>
__device__ __forceinline__ void climb(uint4 (&held)[count], const Work& work) {
  using Value = typename Format::Value;
  constexpr int values = 16 / static_cast<int>(sizeof(Value));
  const Value a = Format::from(work.a);
  const Value b = Format::from(work.b);
  Value x[count][values];
#pragma unroll
  for (int u = 0; u < count; ++u) memcpy(x[u], &held[u], 16);
  for (int round = 0; round < work.rounds; ++round) {
#pragma unroll
    for (int s = 0; s < length; ++s) {
#pragma unroll
      for (int i = 0; i < count * values; ++i) {
        Value& chain = x[i / values][i % values];
        chain = Format::fma(chain, a, b);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < count; ++u) memcpy(&held[u], x[u], 16);
}

template <class Format, int length>
__global__ void __launch_bounds__(ladder_block_threads) ladder(Work work) {
  constexpr std::uint64_t turn = static_cast<std::uint64_t>(ladder_block_threads) * unroll;
  const std::uint64_t whole = work.vectors / turn;
  for (std::uint64_t t = blockIdx.x; t < whole; t += gridDim.x) {
    uint4* place = work.data + t * turn + threadIdx.x;
    uint4 held[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) held[u] = __ldcg(place + u * ladder_block_threads);
    climb<Format, length, unroll>(held, work);
#pragma unroll
    for (int u = 0; u < unroll; ++u) __stcg(place + u * ladder_block_threads, held[u]);
  }
  if (blockIdx.x != 0) return;
  for (std::uint64_t i = whole * turn + threadIdx.x; i < work.vectors; i += ladder_block_threads) {
    uint4 held[1] = {__ldcg(work.data + i)};
    climb<Format, length, 1>(held, work);
    __stcg(work.data + i, held[0]);
  }
}

using Kernel = void (*)(Work);

template <class Format>
Kernel by_length(int length) {
  switch (length) {
    case 1:
      return ladder<Format, 1>;
    case 2:
      return ladder<Format, 2>;
    case 4:
      return ladder<Format, 4>;
    case 8:
      return ladder<Format, 8>;
    case 16:
      return ladder<Format, 16>;
    case 32:
      return ladder<Format, 32>;
    case longest_round:
      return ladder<Format, longest_round>;
    default:
      return nullptr;
  }
}

/// The largest power of two that divides the number of steps, at most the longest round.
int round_length(int steps) {
  int length = 1;
  while (length < longest_round && steps % (2 * length) == 0) length *= 2;
  return length;
}

Kernel choose(const LadderStep& step) {
  if (step.fma_per_element < 1) return nullptr;
  const int length = round_length(step.fma_per_element);
  switch (step.format) {
    case LadderFormat::fp64:
      return by_length<Fp64>(length);
    case LadderFormat::fp32:
      return by_length<Fp32>(length);
    case LadderFormat::fp16:
      return by_length<Fp16>(length);
    case LadderFormat::bf16:
      return by_length<Bf16>(length);
  }
  return nullptr;
}

}  // namespace

cudaError_t launch_ladder(
    const LadderStep& step, void* data, std::uint64_t vectors, int blocks, cudaStream_t stream) {
  const Kernel kernel = choose(step);
  if (kernel == nullptr || vectors == 0) return cudaErrorInvalidValue;
  const Work work{static_cast<uint4*>(data),
                  vectors,
                  step.fma_per_element / round_length(step.fma_per_element),
                  step.a,
                  step.b};
  kernel<<<blocks, ladder_block_threads, 0, stream>>>(work);
  return cudaGetLastError();
}

cudaError_t ladder_occupancy(const LadderStep& step, int* blocks) {
  const Kernel kernel = choose(step);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, ladder_block_threads, 0);
}

}  // namespace scaleworth::gpu
