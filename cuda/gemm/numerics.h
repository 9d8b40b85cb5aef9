// SPDX-License-Identifier: Apache-2.0
/// Encodings, scales, tolerance, comparison.
#pragma once

#include "cuda/gemm/recipe.h"
#include "cuda/kernels/fill.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::gpu {
/// Some rows of A, columns of B and the elements of D where they meet, as numbers.
struct SampledProduct {
  std::vector<std::int64_t> rows;      // of A and D
  std::vector<std::int64_t> columns;   // of B and D
  std::vector<std::vector<double>> a;  // per row: k values, scaled
  std::vector<std::vector<double>> b;  // per column: k values, scaled
  std::vector<double> d;               // rows x columns, row after row
};

/// The first element beyond its tolerance in words; a NaN is beyond every tolerance. Absent when
/// all are within.
std::optional<std::string> deviation(const GemmRecipe& recipe, const SampledProduct& product);

/// Element `index` of stored results.
double decoded_result(const GemmRecipe& recipe, std::span<const std::byte> d, std::size_t index);

/// What D is filled with before a product that is checked: every byte is `byte`. A word of D with
/// (word & mask) == pattern was not written, or is infinite or no number; int32 has no such values,
/// but none here comes near this one.
struct Sentinel {
  int byte = 0;
  std::uint64_t mask = 0;
  std::uint64_t pattern = 0;
};
Sentinel sentinel_of(const GemmRecipe& recipe);

/// Bits of one number in memory.
int encoded_bits(OperandEncoding encoding);

/// The value of number `index` in `memory`, exactly; e2m1: two to a byte, the first in the low
/// half. A pattern that stands for no number gives NaN. Sources: IEEE 754; OCP 8-bit floating point
/// specification 1.0 (e4m3 has no infinities, e5m2 has); OCP microscaling formats 1.0 (e2m1, e8m0).
double decoded(OperandEncoding encoding, std::span<const std::byte> memory, std::size_t index);

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
///   block_128   k-major, padded to 4 along k:
///               k / 128 + round_up(ceil(extent.k / 128), 4) * (outer / 128)
///   vector_32, vector_16   tiles of 128 outer times 4 along k, 512 numbers each, tiles k-major:
///               (outer % 32) * 16 + (outer % 128) / 32 * 4 + (k / 32 or 16) % 4
/// Source: cuBLAS library documentation 13.0, "Scaling factors layouts" and "1D block scaling".
std::size_t scale_index(ScaleLayout layout,
                        const ScaledExtent& extent,
                        std::int64_t outer,
                        std::int64_t k);

/// value = sum a_i b_i in fp64; spread = sqrt(sum (a_i b_i)^2), the standard deviation of such sums
/// over random signs: how large partial sums are.
struct DotReference {
  double value = 0.0;
  double spread = 0.0;
};
DotReference reference_dot(std::span<const double> a, std::span<const double> b);

/// result (|value| + 6 spread) + 6 spread (operand + accumulate ceil(k / at once)), the errors of
/// the recipe; partial sums are taken as at most 6 spreads. The first 6 spreads are for partial
/// sums that a split along k stores in D's format. A correct kernel stays far below. One that
/// leaves out a sixteenth of k departs by a quarter spread on average and by 0.8 somewhere among
/// 1024 samples: more than the widest tolerance, fp8's with its short accumulator, up to k = 32768.
/// int8: 1/2, so exact.
double gemm_tolerance(const GemmRecipe& recipe, std::int64_t k, const DotReference& reference);

/// At most `wanted` places of [0, extent), one at random in each of as many equal stretches.
std::vector<std::int64_t> sampled_places(std::int64_t extent, int wanted, std::uint64_t seed);
}  // namespace scaleworth::gpu
