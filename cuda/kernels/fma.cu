// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace scaleworth::gpu {
namespace {
// The number formats whose multiply-adds are timed: a register's value and one step of its chain.

struct Fp64 {
  using Value = double;
  static __device__ Value from(double x) { return x; }
  static __device__ Value fma(Value x, Value a, Value b) { return ::fma(x, a, b); }
  static __device__ float as_float(Value x) { return static_cast<float>(x); }
};
struct Fp32 {
  using Value = float;
  static __device__ Value from(double x) { return static_cast<float>(x); }
  static __device__ Value fma(Value x, Value a, Value b) { return fmaf(x, a, b); }
  static __device__ float as_float(Value x) { return x; }
};
struct Fp16 {
  using Value = __half2;
  static __device__ Value from(double x) { return __float2half2_rn(static_cast<float>(x)); }
  static __device__ Value fma(Value x, Value a, Value b) { return __hfma2(x, a, b); }
  static __device__ float as_float(Value x) { return __low2float(x) + __high2float(x); }
};
struct Bf16 {
  using Value = __nv_bfloat162;
  static __device__ Value from(double x) { return __float2bfloat162_rn(static_cast<float>(x)); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static __device__ Value fma(Value x, Value, Value) {
    return x;
  }  // never asked: no instruction
#else
  static __device__ Value fma(Value x, Value a, Value b) {
    return __hfma2(x, a, b);
  }
#endif
  static __device__ float as_float(Value x) {
    return __low2float(x) + __high2float(x);
  }
};

constexpr float no_sum = 1e30F;  // the chains stay within [-4, 4]

template <class Format>
__global__ void __launch_bounds__(fma_block_threads, fma_blocks_per_multiprocessor)
    fma_chain(int iterations, FmaConstants constants, FmaData data) {
  using Value = typename Format::Value;
  const Value a = Format::from(constants.a);
  const Value b = Format::from(constants.b);
  const Value* initial = static_cast<const Value*>(data.initial) + threadIdx.x * fma_chains;
  Value x[fma_chains];
#pragma unroll
  for (int c = 0; c < fma_chains; ++c) x[c] = initial[c];
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int s = 0; s < fma_steps; ++s) {
#pragma unroll
      for (int c = 0; c < fma_chains; ++c) x[c] = Format::fma(x[c], a, b);
    }
  }
  float sum = 0.0F;
#pragma unroll
  for (int c = 0; c < fma_chains; ++c) sum += Format::as_float(x[c]);
  if (data.want_results || sum == no_sum) {
    Value* results = static_cast<Value*>(data.results) + threadIdx.x * fma_chains;
#pragma unroll
    for (int c = 0; c < fma_chains; ++c) results[c] = x[c];
  }
}

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

/// Of rounds of `length` steps, a power of two up to the longest.
template <class Format>
Kernel by_length(int length) {
  static constexpr Kernel kernels[] = {ladder<Format, 1>,
                                       ladder<Format, 2>,
                                       ladder<Format, 4>,
                                       ladder<Format, 8>,
                                       ladder<Format, 16>,
                                       ladder<Format, 32>,
                                       ladder<Format, longest_round>};
  return kernels[__builtin_ctz(length)];
}

/// The largest power of two that divides the number of steps, at most the longest round.
int round_length(int steps) {
  int length = 1;
  while (length < longest_round && steps % (2 * length) == 0) length *= 2;
  return length;
}

Kernel choose(const LadderStep& step) {
  if (step.fma_per_element < 1) return nullptr;
  using Choice = Kernel (*)(int);
  static constexpr Choice choices[] = {
      by_length<Fp64>, by_length<Fp32>, by_length<Fp16>, by_length<Bf16>};
  return choices[static_cast<int>(step.format)](round_length(step.fma_per_element));
}
}  // namespace

cudaError_t launch_fma(FmaFormat format,
                       int blocks,
                       int iterations,
                       const FmaConstants& constants,
                       const FmaData& data,
                       cudaStream_t stream) {
  using Kernel = void (*)(int, FmaConstants, FmaData);
  // In the order of the enumeration.
  static constexpr Kernel kernels[] = {
      fma_chain<Fp64>, fma_chain<Fp32>, fma_chain<Fp16>, fma_chain<Bf16>};
  kernels[static_cast<int>(format)]<<<blocks, fma_block_threads, 0, stream>>>(
      iterations, constants, data);
  return cudaGetLastError();
}

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
