// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fill.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace scaleworth::gpu {
namespace {
constexpr int block_threads = 256;      // any size that fills a multiprocessor: not timed
constexpr unsigned grid_blocks = 4096;  // more than run at once

/// Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014): the output
/// function of SplitMix64, here of a counter.
__device__ std::uint64_t mixed(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// Multiples of 2^-23 in [-1, 1).
__device__ float uniform(std::uint64_t random) {
  return static_cast<float>(random >> 40) * (2.0F / 16777216.0F) - 1.0F;
}

/// Box & Muller, "A note on the generation of random normal deviates" (Annals of Mathematical
/// Statistics 29, 1958), on the upper and the lower 24 bits.
__device__ float drawn(std::uint64_t random, bool normal) {
  if (!normal) return uniform(random);
  // Above 0, for the logarithm.
  const float first = static_cast<float>((random >> 40) + 1) * (1.0F / 16777216.0F);
  const float second = static_cast<float>(random & 0xffffffU) * (1.0F / 16777216.0F);
  return sqrtf(-2.0F * logf(first)) * cospif(2.0F * second);
}

/// Codes 0 to 7 are 0, 0.5, 1, 1.5, 2, 3, 4, 6; the nearest is taken, the even code in a tie.
__device__ unsigned e2m1_code(std::uint64_t random, bool normal) {
  const float value = 6.0F * drawn(random, normal);  // 6 is the largest of the type
  const float size = fabsf(value);
  const unsigned code = (size > 0.25F) + (size >= 0.75F) + (size > 1.25F) + (size >= 1.75F) +
                        (size > 2.5F) + (size >= 3.5F) + (size > 5.0F);
  return value < 0.0F ? code | 8U : code;
}

/// A word of memory: one number, e2m1: two.
template <OperandEncoding encoding>
__device__ auto encoded(std::uint64_t random, bool normal) {
  if constexpr (encoding == OperandEncoding::f64) {
    if (normal) return static_cast<double>(drawn(random, normal));
    return static_cast<double>(random >> 11) * (2.0 / 9007199254740992.0) - 1.0;
  } else if constexpr (encoding == OperandEncoding::f32) {
    return drawn(random, normal);
  } else if constexpr (encoding == OperandEncoding::bf16) {
    return __float2bfloat16_rn(drawn(random, normal));
  } else if constexpr (encoding == OperandEncoding::f16) {
    return __float2half_rn(drawn(random, normal));
  } else if constexpr (encoding == OperandEncoding::e4m3) {
    return __nv_cvt_float_to_fp8(drawn(random, normal), __NV_SATFINITE, __NV_E4M3);
  } else if constexpr (encoding == OperandEncoding::e5m2) {
    return __nv_cvt_float_to_fp8(drawn(random, normal), __NV_SATFINITE, __NV_E5M2);
  } else if constexpr (encoding == OperandEncoding::int8) {
    const float cut = fminf(fmaxf(drawn(random, normal), -1.0F), 1.0F);
    return static_cast<std::int8_t>(__float2int_rn(127.0F * cut));
  } else if constexpr (encoding == OperandEncoding::e2m1) {
    return static_cast<std::uint8_t>(e2m1_code(random, normal) |
                                     (e2m1_code(mixed(random), normal) << 4));
  } else if constexpr (encoding == OperandEncoding::scale_f32) {
    return static_cast<float>((random >> 40) + 1) * (1.0F / 16777216.0F);
  } else if constexpr (encoding == OperandEncoding::scale_ue8m0) {
    return static_cast<std::uint8_t>(127U - static_cast<unsigned>(random >> 62));
  } else {
    static_assert(encoding == OperandEncoding::scale_ue4m3);
    // From 2^-4 to 1: scales that differ and lose nothing.
    const float scale = 0.0625F + 0.9375F * 0.5F * (uniform(random) + 1.0F);
    return __nv_cvt_float_to_fp8(scale, __NV_SATFINITE, __NV_E4M3);
  }
}

template <OperandEncoding encoding>
__global__ void fill(void* memory, std::uint64_t words, std::uint64_t first, bool normal) {
  auto* const to = static_cast<decltype(encoded<encoding>(0, false))*>(memory);
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    to[i] = encoded<encoding>(mixed(first + i), normal);
  }
}

template <OperandEncoding encoding>
cudaError_t filled(
    void* memory, std::uint64_t words, std::uint64_t seed, bool normal, cudaStream_t stream) {
  if (words == 0) return cudaSuccess;
  fill<encoding><<<grid_blocks, block_threads, 0, stream>>>(memory, words, seed << 44, normal);
  return cudaGetLastError();
}

template <class Word>
__global__ void count_words(
    const Word* memory, std::uint64_t words, Word mask, Word pattern, unsigned long long* count) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    if ((memory[i] & mask) == pattern) ++found;
  }
  if (found > 0) atomicAdd(count, found);
}

template <class Word>
cudaError_t counted(const void* memory,
                    std::uint64_t words,
                    std::uint64_t mask,
                    std::uint64_t pattern,
                    unsigned long long* count,
                    cudaStream_t stream) {
  count_words<<<grid_blocks, block_threads, 0, stream>>>(static_cast<const Word*>(memory),
                                                         words,
                                                         static_cast<Word>(mask),
                                                         static_cast<Word>(pattern),
                                                         count);
  return cudaGetLastError();
}
}  // namespace

cudaError_t launch_fill_operands(void* memory,
                                 OperandEncoding encoding,
                                 std::uint64_t numbers,
                                 std::uint64_t seed,
                                 bool normal,
                                 cudaStream_t stream) {
  using Fill = cudaError_t (*)(void*, std::uint64_t, std::uint64_t, bool, cudaStream_t);
  // In the order of the enumeration.
  static constexpr Fill fills[] = {filled<OperandEncoding::f64>,
                                   filled<OperandEncoding::f32>,
                                   filled<OperandEncoding::bf16>,
                                   filled<OperandEncoding::f16>,
                                   filled<OperandEncoding::e4m3>,
                                   filled<OperandEncoding::e5m2>,
                                   filled<OperandEncoding::int8>,
                                   filled<OperandEncoding::e2m1>,
                                   filled<OperandEncoding::scale_f32>,
                                   filled<OperandEncoding::scale_ue8m0>,
                                   filled<OperandEncoding::scale_ue4m3>};
  const std::uint64_t words = encoding == OperandEncoding::e2m1 ? numbers / 2 : numbers;
  return fills[static_cast<int>(encoding)](memory, words, seed, normal, stream);
}

cudaError_t launch_count_words(const void* memory,
                               int word_bytes,
                               std::uint64_t words,
                               std::uint64_t mask,
                               std::uint64_t pattern,
                               unsigned long long* count,
                               cudaStream_t stream) {
  switch (word_bytes) {
    case 2:
      return counted<std::uint16_t>(memory, words, mask, pattern, count, stream);
    case 4:
      return counted<std::uint32_t>(memory, words, mask, pattern, count, stream);
    case 8:
      return counted<std::uint64_t>(memory, words, mask, pattern, count, stream);
    default:
      return cudaErrorInvalidValue;
  }
}
}  // namespace scaleworth::gpu
