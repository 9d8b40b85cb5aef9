// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics/tolerance.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace scaleworth::gpu {
namespace {

constexpr double largest_partial_sum = 6.0;  // spreads

}  // namespace

DotReference reference_dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  double squares = 0.0;
  const std::size_t count = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < count; ++i) {
    const double product = a[i] * b[i];
    sum += product;
    squares += product * product;
  }
  return {sum, std::sqrt(squares)};
}

double gemm_tolerance(const GemmRecipe& recipe, std::int64_t k, const DotReference& reference) {
  if (recipe.result_error == 0.0) return 0.5;
  const double steps =
      std::ceil(static_cast<double>(k) / static_cast<double>(recipe.accumulated_at_once));
  const double partial = largest_partial_sum * reference.spread;
  return recipe.result_error * (std::abs(reference.value) + partial) +
         partial * (recipe.operand_error + recipe.accumulate_error * steps);
}

std::vector<std::int64_t> sampled_places(std::int64_t extent, int wanted, std::uint64_t seed) {
  const std::int64_t count = std::min<std::int64_t>(extent, wanted);
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = extent * i / count;
    const std::int64_t to = extent * (i + 1) / count;
    places.push_back(from +
                     static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from)));
  }
  return places;
}

}  // namespace scaleworth::gpu
