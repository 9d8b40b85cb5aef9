// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

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

namespace {
template <class Word>
Word word_at(std::span<const std::byte> memory, std::size_t index) {
  Word word{};
  std::memcpy(&word, memory.subspan(index * sizeof(Word), sizeof(Word)).data(), sizeof(Word));
  return word;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Where the bits of a small float lie and how it spells special values.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;        // an exponent of ones is infinite, or no number
  bool ones_are_no_number;  // e4m3: all ones is no number, the rest of that exponent is finite
};

double small_float(std::uint32_t bits, const SmallFloat& form) {
  const std::uint32_t mantissa_mask = (1U << form.mantissa_bits) - 1U;
  const std::uint32_t exponent_mask = (1U << form.exponent_bits) - 1U;
  const std::uint32_t mantissa = bits & mantissa_mask;
  const std::uint32_t exponent = (bits >> form.mantissa_bits) & exponent_mask;
  const bool negative = ((bits >> (form.mantissa_bits + form.exponent_bits)) & 1U) != 0;
  const double sign = negative ? -1.0 : 1.0;
  if (exponent == exponent_mask) {
    if (form.has_infinity) {
      return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : not_a_number;
    }
    if (form.ones_are_no_number && mantissa == mantissa_mask) return not_a_number;
  }
  const int bias = (1 << (form.exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(static_cast<double>(mantissa), -form.mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1.0 + fraction, static_cast<int>(exponent) - bias);
}

constexpr SmallFloat bits_of_e4m3{4, 3, false, true};
// See SmallFloat: IEEE's infinities; e4m3 has none.
constexpr SmallFloat bits_of_e5m2{5, 2, true, false};
constexpr SmallFloat bits_of_e2m1{2, 1, false, false};

std::int64_t whole(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit;
}

std::int64_t padded(std::int64_t value, std::int64_t unit) {
  return whole(value, unit) * unit;
}
}  // namespace

double decoded_result(const GemmRecipe& recipe, std::span<const std::byte> d, std::size_t index) {
  switch (recipe.d_type) {
    case CUDA_R_64F:
      return decoded(OperandEncoding::f64, d, index);
    case CUDA_R_32F:
      return decoded(OperandEncoding::f32, d, index);
    case CUDA_R_16F:
      return decoded(OperandEncoding::f16, d, index);
    case CUDA_R_32I:
      return word_at<std::int32_t>(d, index);
    default:
      return decoded(OperandEncoding::bf16, d, index);
  }
}

Sentinel sentinel_of(const GemmRecipe& recipe) {
  switch (recipe.d_type) {
    case CUDA_R_64F:
      // Not a number of the type, written as repeated bytes: what no product gives.
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

int encoded_bits(OperandEncoding encoding) {
  // In the order of the enumeration.
  static constexpr std::array bits{64, 32, 16, 16, 8, 8, 8, 4, 32, 8, 8};
  return bits.at(index_of(encoding));
}

double decoded(OperandEncoding encoding, std::span<const std::byte> memory, std::size_t index) {
  switch (encoding) {
    case OperandEncoding::f64:
      return word_at<double>(memory, index);
    case OperandEncoding::f32:
    case OperandEncoding::scale_f32:
      return word_at<float>(memory, index);
    case OperandEncoding::bf16:
      return bf16_value(word_at<std::uint16_t>(memory, index));
    case OperandEncoding::f16:
      return fp16_value(word_at<std::uint16_t>(memory, index));
    case OperandEncoding::e4m3:
    case OperandEncoding::scale_ue4m3:
      return small_float(word_at<std::uint8_t>(memory, index), bits_of_e4m3);
    case OperandEncoding::e5m2:
      return small_float(word_at<std::uint8_t>(memory, index), bits_of_e5m2);
    case OperandEncoding::int8:
      return word_at<std::int8_t>(memory, index);
    case OperandEncoding::e2m1: {
      const unsigned pair = word_at<std::uint8_t>(memory, index / 2);
      return small_float(index % 2 == 0 ? pair & 0xFU : pair >> 4, bits_of_e2m1);
    }
    case OperandEncoding::scale_ue8m0: {
      const unsigned exponent = word_at<std::uint8_t>(memory, index);
      return exponent == 255 ? not_a_number : std::ldexp(1.0, static_cast<int>(exponent) - 127);
    }
  }
  return not_a_number;
}

std::size_t scale_count(ScaleLayout layout, const ScaledExtent& extent) {
  const std::int64_t blocks = whole(extent.k, scale_form(layout).block);
  switch (layout) {
    case ScaleLayout::none:
      return 0;
    case ScaleLayout::tensor:
      return 1;
    case ScaleLayout::vector_128:
      return static_cast<std::size_t>(extent.outer * blocks);
    case ScaleLayout::block_128:
      return static_cast<std::size_t>(padded(blocks, 4) * whole(extent.outer, 128));
    case ScaleLayout::vector_32:
    case ScaleLayout::vector_16:
      return static_cast<std::size_t>(padded(extent.outer, 128) * padded(blocks, 4));
  }
  return 0;
}

std::size_t scale_index(ScaleLayout layout,
                        const ScaledExtent& extent,
                        std::int64_t outer,
                        std::int64_t k) {
  const std::int64_t block = k / scale_form(layout).block;
  const std::int64_t blocks = whole(extent.k, scale_form(layout).block);
  switch (layout) {
    case ScaleLayout::none:
    case ScaleLayout::tensor:
      return 0;
    case ScaleLayout::vector_128:
      return static_cast<std::size_t>(outer + extent.outer * block);
    case ScaleLayout::block_128:
      return static_cast<std::size_t>(block + padded(blocks, 4) * (outer / 128));
    case ScaleLayout::vector_32:
    case ScaleLayout::vector_16: {
      const std::int64_t tile = outer / 128 * (padded(blocks, 4) / 4) + block / 4;
      const std::int64_t within = outer % 32 * 16 + outer % 128 / 32 * 4 + block % 4;
      return static_cast<std::size_t>(tile * 512 + within);
    }
  }
  return 0;
}

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
  constexpr double largest_partial_sum = 6.0;  // spreads
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
