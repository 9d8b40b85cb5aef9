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

}  // namespace scaleworth::gpu
