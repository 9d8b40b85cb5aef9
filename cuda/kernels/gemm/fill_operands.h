// SPDX-License-Identifier: Apache-2.0
/// Operands of matrix products: uniform numbers in the encodings that tensor cores read.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

/// The first eight hold operands, uniform in [-1, 1) before rounding; int8 times 127, e2m1 times 6
/// (its greatest number), two to a byte, the first in the low half. The last three hold scales:
/// scale_f32 uniform in (0, 1], scale_ue8m0 one of 1, 1/2, 1/4, 1/8, scale_ue4m3 uniform in [1/16,
/// 1].
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
/// even number for e2m1) from a stream of random numbers that `seed` names.
cudaError_t launch_fill_operands(void* memory,
                                 OperandEncoding encoding,
                                 std::uint64_t numbers,
                                 std::uint64_t seed,
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
