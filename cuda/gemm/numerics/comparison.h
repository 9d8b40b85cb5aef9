// SPDX-License-Identifier: Apache-2.0
/// A sample of a product against its reference in fp64.
#pragma once

#include "cuda/gemm/recipe.h"

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
/// but none of ours comes near this one.
struct Sentinel {
  int byte = 0;
  std::uint64_t mask = 0;
  std::uint64_t pattern = 0;
};
Sentinel sentinel_of(const GemmRecipe& recipe);

}  // namespace scaleworth::gpu
