// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fill.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace scaleworth::gpu {
namespace {
constexpr int block_threads = 256;  // any size that fills a multiprocessor: not timed
constexpr int most_blocks = 4096;   // more than run at once; threads take several numbers

// The finaliser of MurmurHash3 (Appleby, public domain) over both halves of the index.
__host__ __device__ inline float uniform(std::uint64_t index, std::uint32_t seed) {
  std::uint32_t hash =
      static_cast<std::uint32_t>(index) ^ (static_cast<std::uint32_t>(index >> 32U) * 0x9e3779b9U);
  hash ^= seed * 0x85ebca6bU;
  hash ^= hash >> 16U;
  hash *= 0x85ebca6bU;
  hash ^= hash >> 13U;
  hash *= 0xc2b2ae35U;
  hash ^= hash >> 16U;
  // 24 bits: exact in fp32.
  return static_cast<float>(static_cast<std::int32_t>(hash) >> 8) * 0x1p-23F;
}

template <class T>
__device__ T rounded(float value) {
  return static_cast<T>(value);
}
template <>
__device__ __half rounded<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 rounded<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

__device__ std::uint64_t first_index() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t grid_stride() {
  return static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
}

template <class T>
__global__ void fill(T* data, std::uint64_t count, std::uint32_t seed) {
  const std::uint64_t stride = grid_stride();
  for (std::uint64_t i = first_index(); i < count; i += stride) {
    data[i] = rounded<T>(uniform(i, seed));
  }
}

unsigned blocks_for(std::uint64_t count) {
  const std::uint64_t needed = (count + block_threads - 1) / block_threads;
  return static_cast<unsigned>(needed < most_blocks ? needed : most_blocks);
}

template <class T>
cudaError_t launch_fill(void* data, std::uint64_t count, std::uint32_t seed, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  fill<<<blocks_for(count), block_threads, 0, stream>>>(static_cast<T*>(data), count, seed);
  return cudaGetLastError();
}

__global__ void sum_of(const float* data, std::uint64_t count, double* sum) {
  double mine = 0.0;
  const std::uint64_t stride = grid_stride();
  for (std::uint64_t i = first_index(); i < count; i += stride) {
    mine += static_cast<double>(data[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    mine += __shfl_down_sync(0xffffffffU, mine, offset);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

__device__ float place_term(std::size_t index) {
  // As `place_term` of probes/collective_probe.cpp.
  return static_cast<float>((static_cast<unsigned>(index) * 2654435761U) >> 22U);
}

__global__ void fill(float* data, std::size_t count, float rank_term) {
  for (std::size_t i = first_index(); i < count; i += grid_stride()) {
    data[i] = place_term(i) + rank_term;
  }
}

__global__ void count_errors(PatternStretch stretch, unsigned long long* errors) {
  unsigned long long wrong = 0;
  for (std::size_t i = first_index(); i < stretch.count; i += grid_stride()) {
    const float expected = stretch.scale * place_term(stretch.first + i) + stretch.offset;
    // Written so that a NaN counts.
    if (!(stretch.data[i] == expected)) ++wrong;
  }
  if (wrong != 0) atomicAdd(errors, wrong);
}
}  // namespace

cudaError_t launch_fill_uniform(
    FmaFormat format, void* data, std::uint64_t count, std::uint32_t seed, cudaStream_t stream) {
  using Fill = cudaError_t (*)(void*, std::uint64_t, std::uint32_t, cudaStream_t);
  // In the order of the enumeration.
  static constexpr Fill fills[] = {
      launch_fill<double>, launch_fill<float>, launch_fill<__half>, launch_fill<__nv_bfloat16>};
  return fills[static_cast<int>(format)](data, count, seed, stream);
}

float uniform_value(std::uint64_t index, std::uint32_t seed) {
  return uniform(index, seed);
}

cudaError_t launch_sum(const float* data, std::uint64_t count, double* sum, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  sum_of<<<blocks_for(count), block_threads, 0, stream>>>(data, count, sum);
  return cudaGetLastError();
}

cudaError_t launch_fill_pattern(float* data,
                                std::size_t count,
                                float rank_term,
                                cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  fill<<<blocks_for(count), block_threads, 0, stream>>>(data, count, rank_term);
  return cudaGetLastError();
}

cudaError_t launch_count_errors(const PatternStretch& stretch,
                                unsigned long long* errors,
                                cudaStream_t stream) {
  if (stretch.count == 0) return cudaSuccess;
  count_errors<<<blocks_for(stretch.count), block_threads, 0, stream>>>(stretch, errors);
  return cudaGetLastError();
}
}  // namespace scaleworth::gpu
