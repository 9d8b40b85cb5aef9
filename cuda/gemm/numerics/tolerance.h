// SPDX-License-Identifier: Apache-2.0
/// What a correct element of a product may depart from the fp64 reference.
#pragma once

#include "cuda/gemm/recipe.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::gpu {

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
