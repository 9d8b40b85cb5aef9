// SPDX-License-Identifier: Apache-2.0
/// Where the factors of block-scaled operands lie in memory.
#pragma once

#include "cuda/gemm/recipe.h"

#include <cstddef>
#include <cstdint>

namespace scaleworth::gpu {

/// An operand is `outer` (m of A, n of B) times `k`.
struct ScaledExtent {
  std::int64_t outer = 0;
  std::int64_t k = 0;
};

/// Numbers that the factors take, padding included; 1 for tensor, 0 for none.
std::size_t scale_count(ScaleLayout layout, const ScaledExtent& extent);

/// The number that holds the factor of element (outer, k).
///   tensor      0
///   vector_128  outer-major: outer + extent.outer * (k / 128)
///   block_128   k-major, padded to 4 along k: k / 128 + round_up(ceil(extent.k / 128), 4) * (outer
///   / 128) vector_32,  tiles of 128 outer times 4 along k, 512 numbers each, tiles k-major:
///   vector_16     (outer % 32) * 16 + (outer % 128) / 32 * 4 + (k / 32 or 16) % 4
/// Source: cuBLAS library documentation 13.0, "Scaling factors layouts" and "1D block scaling".
std::size_t scale_index(ScaleLayout layout,
                        const ScaledExtent& extent,
                        std::int64_t outer,
                        std::int64_t k);

OperandEncoding scale_encoding(ScaleLayout layout);

}  // namespace scaleworth::gpu
