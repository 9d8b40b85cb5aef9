// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline.h"

namespace scaleworth::gpu {
namespace {
constexpr float no_sum = 1e38F;  // no sum of numbers in [-1, 1]

/// Volatile: a later pass over the same elements is no common subexpression.
__device__ __forceinline__ float4 load_l1(const float4* from) {
  float4 v;
  asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
}

__device__ __forceinline__ float4 load_shared(unsigned from) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from));
  return v;
}

__device__ __forceinline__ void add(float4& sum, const float4& v) {
  sum.x += v.x;
  sum.y += v.y;
  sum.z += v.z;
  sum.w += v.w;
}

__device__ __forceinline__ void finish(const float4& sum, const MultiprocessorReadResult& result) {
  const float mine = (sum.x + sum.y) + (sum.z + sum.w);
  if (result.want_sums || mine == no_sum) result.sums[blockIdx.x * blockDim.x + threadIdx.x] = mine;
  if (threadIdx.x == 0) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    result.multiprocessors[blockIdx.x] = multiprocessor;
  }
}

template <int unroll>
__global__ void __launch_bounds__(1024, 1) l1_read(const float4* data,
                                                   std::uint32_t vectors,
                                                   int passes,
                                                   MultiprocessorReadResult result) {
  const float4* mine = data + static_cast<std::uint64_t>(blockIdx.x) * vectors + threadIdx.x;
  const std::uint32_t length = blockDim.x * unroll;
  float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  for (int pass = 0; pass < passes; ++pass) {
    std::uint32_t i = 0;
    for (; i + length <= vectors; i += length) {
      float4 v[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) v[u] = load_l1(mine + i + u * blockDim.x);
#pragma unroll
      for (int u = 0; u < unroll; ++u) add(sum, v[u]);
    }
    for (; i < vectors; i += blockDim.x) add(sum, load_l1(mine + i));
  }
  finish(sum, result);
}

template <int unroll>
__global__ void __launch_bounds__(1024, 1) shared_read(const float4* data,
                                                       std::uint32_t vectors,
                                                       int passes,
                                                       MultiprocessorReadResult result) {
  extern __shared__ float4 held[];
  for (std::uint32_t i = threadIdx.x; i < vectors; i += blockDim.x) {
    held[i] = data[static_cast<std::uint64_t>(blockIdx.x) * vectors + i];
  }
  __syncthreads();
  const auto mine = static_cast<unsigned>(__cvta_generic_to_shared(held)) + 16 * threadIdx.x;
  const std::uint32_t stride = 16 * blockDim.x;
  const std::uint32_t bytes = 16 * vectors;
  float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
  for (int pass = 0; pass < passes; ++pass) {
    std::uint32_t i = 0;
    for (; i + unroll * stride <= bytes; i += unroll * stride) {
      float4 v[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) v[u] = load_shared(mine + i + u * stride);
#pragma unroll
      for (int u = 0; u < unroll; ++u) add(sum, v[u]);
    }
    for (; i < bytes; i += stride) add(sum, load_shared(mine + i));
  }
  finish(sum, result);
}

using Kernel = void (*)(const float4*, std::uint32_t, int, MultiprocessorReadResult);

constexpr Kernel l1_kernels[] = {l1_read<1>, l1_read<2>, l1_read<4>, l1_read<8>};
constexpr Kernel shared_kernels[] = {
    shared_read<1>, shared_read<2>, shared_read<4>, shared_read<8>};

bool is_sound(const MultiprocessorRead& read) {
  return read.block_threads > 0 && read.vectors > 0 && read.vectors % read.block_threads == 0;
}
}  // namespace

cudaError_t launch_l1_read(const MultiprocessorRead& read,
                           const float* data,
                           const MultiprocessorReadResult& result,
                           cudaStream_t stream) {
  const Kernel kernel = by_unroll(l1_kernels, read.unroll);
  if (kernel == nullptr || !is_sound(read)) return cudaErrorInvalidValue;
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1);
  if (status != cudaSuccess) return status;
  kernel<<<read.blocks, read.block_threads, read.shared_bytes, stream>>>(
      reinterpret_cast<const float4*>(data), read.vectors, read.passes, result);
  return cudaGetLastError();
}

cudaError_t launch_shared_read(const MultiprocessorRead& read,
                               const float* data,
                               const MultiprocessorReadResult& result,
                               cudaStream_t stream) {
  const Kernel kernel = by_unroll(shared_kernels, read.unroll);
  if (kernel == nullptr || !is_sound(read)) return cudaErrorInvalidValue;
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, read.shared_bytes);
  if (status != cudaSuccess) return status;
  kernel<<<read.blocks, read.block_threads, read.shared_bytes, stream>>>(
      reinterpret_cast<const float4*>(data), read.vectors, read.passes, result);
  return cudaGetLastError();
}
}  // namespace scaleworth::gpu
