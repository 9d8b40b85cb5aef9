// SPDX-License-Identifier: Apache-2.0
/// Arrays of uniform numbers in [-1, 1] that the host can compute as well, element by element.
#pragma once

#include "cuda/kernels/roofline.h"

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {
/// data[i] = uniform_value(i, seed), i < count. fp64 holds the same values; fp16 and bf16 hold them
/// rounded to nearest even.
cudaError_t launch_fill_uniform(
    FmaFormat format, void* data, std::uint64_t count, std::uint32_t seed, cudaStream_t stream);

/// A hash of index and seed as a signed 24-bit integer times 2^-23: exact in fp32.
float uniform_value(std::uint64_t index, std::uint32_t seed);

/// Adds the sum of data[0..count) to *sum, in fp64.
cudaError_t launch_sum(const float* data, std::uint64_t count, double* sum, cudaStream_t);

// The data by which a collective is verified, filled and checked where it lies.

/// data[i] = h(i) + rank_term; h as in probes/collectives.h, 0 to 1023.
cudaError_t launch_fill_pattern(float* data,
                                std::size_t count,
                                float rank_term,
                                cudaStream_t stream);

/// Where element i of `data` must be scale h(first + i) + offset.
struct PatternStretch {
  const float* data;
  std::size_t count;
  std::size_t first;
  float scale;
  float offset;
};

/// Adds the number of wrong elements to *errors (device memory); a NaN is wrong.
cudaError_t launch_count_errors(const PatternStretch& stretch,
                                unsigned long long* errors,
                                cudaStream_t stream);

// Operands of matrix products: uniform numbers in the encodings that tensor cores read.

/// The first eight hold operands, drawn in [-1, 1) or `normal` before rounding; int8 times 127,
/// e2m1 times 6 (its greatest number), both cut there, e2m1 two to a byte, the first in the low
/// half. The last three hold scales: scale_f32 uniform in (0, 1], scale_ue8m0 one of 1, 1/2, 1/4,
/// 1/8, scale_ue4m3 uniform in [1/16, 1].
enum class OperandEncoding {
  f64,
  f32,
  bf16,
  f16,
  e4m3,
  e5m2,
  int8,
  e2m1,
  scale_f32,
  scale_ue8m0,
  scale_ue4m3
};

/// Drawn in fp32 and converted, so that no NaN and no odd exponent arises. `numbers` of them (an
/// even number for e2m1) from a stream of random numbers that `seed` names. Uniform in [-1, 1);
/// `normal`: of mean 0 and variance 1, at most 5.8.
cudaError_t launch_fill_operands(void* memory,
                                 OperandEncoding encoding,
                                 std::uint64_t numbers,
                                 std::uint64_t seed,
                                 bool normal,
                                 cudaStream_t stream);

/// Adds to `*count` the words of `word_bytes` (2, 4 or 8) in memory with (word & mask) == pattern:
/// results that were never written, or are infinite or no numbers.
cudaError_t launch_count_words(const void* memory,
                               int word_bytes,
                               std::uint64_t words,
                               std::uint64_t mask,
                               std::uint64_t pattern,
                               unsigned long long* count,
                               cudaStream_t stream);
}  // namespace scaleworth::gpu
