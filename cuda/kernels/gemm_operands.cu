// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fill.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace scaleworth::gpu {
namespace {
constexpr int block_threads = 256;
constexpr unsigned grid_blocks = 4096;

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

template <OperandEncoding encoding>
struct Encoded;
template <>
struct Encoded<OperandEncoding::f64> {
  using Word = double;
  static __device__ Word of(std::uint64_t random) {
    return static_cast<double>(random >> 11) * (2.0 / 9007199254740992.0) - 1.0;
  }
};
template <>
struct Encoded<OperandEncoding::f32> {
  using Word = float;
  static __device__ Word of(std::uint64_t random) { return uniform(random); }
};
template <>
struct Encoded<OperandEncoding::bf16> {
  using Word = __nv_bfloat16;
  static __device__ Word of(std::uint64_t random) { return __float2bfloat16_rn(uniform(random)); }
};
template <>
struct Encoded<OperandEncoding::f16> {
  using Word = __half;
  static __device__ Word of(std::uint64_t random) { return __float2half_rn(uniform(random)); }
};
template <>
struct Encoded<OperandEncoding::e4m3> {
  using Word = std::uint8_t;
  static __device__ Word of(std::uint64_t random) {
    return __nv_cvt_float_to_fp8(uniform(random), __NV_SATFINITE, __NV_E4M3);
  }
};
template <>
struct Encoded<OperandEncoding::e5m2> {
  using Word = std::uint8_t;
  static __device__ Word of(std::uint64_t random) {
    return __nv_cvt_float_to_fp8(uniform(random), __NV_SATFINITE, __NV_E5M2);
  }
};
template <>
struct Encoded<OperandEncoding::int8> {
  using Word = std::int8_t;
  static __device__ Word of(std::uint64_t random) {
    return static_cast<std::int8_t>(__float2int_rn(127.0F * uniform(random)));
  }
};
/// A word is two numbers.
template <>
struct Encoded<OperandEncoding::e2m1> {
  using Word = std::uint8_t;
  /// Codes 0 to 7 are 0, 0.5, 1, 1.5, 2, 3, 4, 6; the nearest is taken, the even code in a tie.
  static __device__ unsigned half_byte(std::uint64_t random) {
    const float value = 6.0F * uniform(random);
    const float size = fabsf(value);
    const unsigned code = (size > 0.25F) + (size >= 0.75F) + (size > 1.25F) + (size >= 1.75F) +
                          (size > 2.5F) + (size >= 3.5F) + (size > 5.0F);
    return value < 0.0F ? code | 8U : code;
  }
  static __device__ Word of(std::uint64_t random) {
    const unsigned low = half_byte(random);
    const unsigned high = half_byte(mixed(random));
    return static_cast<Word>(low | (high << 4));
  }
};
template <>
struct Encoded<OperandEncoding::scale_f32> {
  using Word = float;
  static __device__ Word of(std::uint64_t random) {
    return static_cast<float>((random >> 40) + 1) * (1.0F / 16777216.0F);
  }
};
template <>
struct Encoded<OperandEncoding::scale_ue8m0> {
  using Word = std::uint8_t;
  static __device__ Word of(std::uint64_t random) {
    return static_cast<Word>(127U - static_cast<unsigned>(random >> 62));
  }
};
template <>
struct Encoded<OperandEncoding::scale_ue4m3> {
  using Word = std::uint8_t;
  static __device__ Word of(std::uint64_t random) {
    const float scale = 0.0625F + 0.9375F * 0.5F * (uniform(random) + 1.0F);
    return __nv_cvt_float_to_fp8(scale, __NV_SATFINITE, __NV_E4M3);
  }
};

template <OperandEncoding encoding>
__global__ void fill(typename Encoded<encoding>::Word* memory,
                     std::uint64_t words,
                     std::uint64_t first) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    memory[i] = Encoded<encoding>::of(mixed(first + i));
  }
}

template <OperandEncoding encoding>
cudaError_t filled(void* memory, std::uint64_t words, std::uint64_t seed, cudaStream_t stream) {
  if (words == 0) return cudaSuccess;
  using Word = typename Encoded<encoding>::Word;
  fill<encoding>
      <<<grid_blocks, block_threads, 0, stream>>>(static_cast<Word*>(memory), words, seed << 44);
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
                                 cudaStream_t stream) {
  switch (encoding) {
    case OperandEncoding::f64:
      return filled<OperandEncoding::f64>(memory, numbers, seed, stream);
    case OperandEncoding::f32:
      return filled<OperandEncoding::f32>(memory, numbers, seed, stream);
    case OperandEncoding::bf16:
      return filled<OperandEncoding::bf16>(memory, numbers, seed, stream);
    case OperandEncoding::f16:
      return filled<OperandEncoding::f16>(memory, numbers, seed, stream);
    case OperandEncoding::e4m3:
      return filled<OperandEncoding::e4m3>(memory, numbers, seed, stream);
    case OperandEncoding::e5m2:
      return filled<OperandEncoding::e5m2>(memory, numbers, seed, stream);
    case OperandEncoding::int8:
      return filled<OperandEncoding::int8>(memory, numbers, seed, stream);
    case OperandEncoding::e2m1:
      return filled<OperandEncoding::e2m1>(memory, numbers / 2, seed, stream);
    case OperandEncoding::scale_f32:
      return filled<OperandEncoding::scale_f32>(memory, numbers, seed, stream);
    case OperandEncoding::scale_ue8m0:
      return filled<OperandEncoding::scale_ue8m0>(memory, numbers, seed, stream);
    case OperandEncoding::scale_ue4m3:
      return filled<OperandEncoding::scale_ue4m3>(memory, numbers, seed, stream);
  }
  return cudaErrorInvalidValue;
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
