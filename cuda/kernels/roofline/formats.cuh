// SPDX-License-Identifier: Apache-2.0
/// The number formats whose multiply-adds are timed: a register's value and one step of its chain.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace scaleworth::gpu {

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

}  // namespace scaleworth::gpu
