// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics/comparison.h"

#include "cuda/gemm/numerics/encoding.h"
#include "cuda/gemm/numerics/tolerance.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace scaleworth::gpu {

std::optional<std::string> deviation(const GemmRecipe& recipe, const SampledProduct& product) {
  for (std::size_t i = 0; i < product.rows.size(); ++i) {
    for (std::size_t j = 0; j < product.columns.size(); ++j) {
      const DotReference reference = reference_dot(product.a[i], product.b[j]);
      const auto k = static_cast<std::int64_t>(product.a[i].size());
      const double tolerance = gemm_tolerance(recipe, k, reference);
      const double found = product.d[i * product.columns.size() + j];
      // Written so that a NaN on either side fails.
      if (std::abs(found - reference.value) <= tolerance) continue;
      return fmt::format("wrong result: row {}, column {}: {:.9g} instead of {:.9g} +- {:.2g}",
                         product.rows[i],
                         product.columns[j],
                         found,
                         reference.value,
                         tolerance);
    }
  }
  return std::nullopt;
}

double decoded_result(const GemmRecipe& recipe, std::span<const std::byte> d, std::size_t index) {
  switch (recipe.d_type) {
    case CUDA_R_64F:
      return decoded(OperandEncoding::f64, d, index);
    case CUDA_R_32F:
      return decoded(OperandEncoding::f32, d, index);
    case CUDA_R_16F:
      return decoded(OperandEncoding::f16, d, index);
    case CUDA_R_32I: {
      std::int32_t value = 0;
      std::memcpy(&value, d.subspan(index * sizeof value, sizeof value).data(), sizeof value);
      return value;
    }
    default:
      return decoded(OperandEncoding::bf16, d, index);
  }
}

Sentinel sentinel_of(const GemmRecipe& recipe) {
  switch (recipe.d_type) {
    case CUDA_R_64F:
      return {0xFF, 0x7FF0'0000'0000'0000, 0x7FF0'0000'0000'0000};
    case CUDA_R_32F:
      return {0xFF, 0x7F80'0000, 0x7F80'0000};
    case CUDA_R_16F:
      return {0xFF, 0x7C00, 0x7C00};
    case CUDA_R_32I:
      return {0x80, 0xFFFF'FFFF, 0x8080'8080};
    default:
      return {0xFF, 0x7F80, 0x7F80};
  }
}

}  // namespace scaleworth::gpu
