// SPDX-License-Identifier: Apache-2.0
#include "cuda/gemm/numerics/encoding.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace scaleworth::gpu {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Word>
Word word_at(std::span<const std::byte> memory, std::size_t index) {
  Word word{};
  std::memcpy(&word, memory.subspan(index * sizeof(Word), sizeof(Word)).data(), sizeof(Word));
  return word;
}

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

constexpr SmallFloat e4m3{4, 3, false, true};
constexpr SmallFloat e5m2{5, 2, true, false};
constexpr SmallFloat e2m1{2, 1, false, false};
constexpr SmallFloat half{5, 10, true, false};

}  // namespace

int encoded_bits(OperandEncoding encoding) {
  switch (encoding) {
    case OperandEncoding::f64:
      return 64;
    case OperandEncoding::f32:
    case OperandEncoding::scale_f32:
      return 32;
    case OperandEncoding::bf16:
    case OperandEncoding::f16:
      return 16;
    case OperandEncoding::e2m1:
      return 4;
    default:
      return 8;
  }
}

double decoded_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double decoded_f16(std::uint16_t bits) {
  return small_float(bits, half);
}

double decoded(OperandEncoding encoding, std::span<const std::byte> memory, std::size_t index) {
  switch (encoding) {
    case OperandEncoding::f64:
      return word_at<double>(memory, index);
    case OperandEncoding::f32:
    case OperandEncoding::scale_f32:
      return word_at<float>(memory, index);
    case OperandEncoding::bf16:
      return decoded_bf16(word_at<std::uint16_t>(memory, index));
    case OperandEncoding::f16:
      return decoded_f16(word_at<std::uint16_t>(memory, index));
    case OperandEncoding::e4m3:
    case OperandEncoding::scale_ue4m3:
      return small_float(word_at<std::uint8_t>(memory, index), e4m3);
    case OperandEncoding::e5m2:
      return small_float(word_at<std::uint8_t>(memory, index), e5m2);
    case OperandEncoding::int8:
      return word_at<std::int8_t>(memory, index);
    case OperandEncoding::e2m1: {
      const unsigned pair = word_at<std::uint8_t>(memory, index / 2);
      return small_float(index % 2 == 0 ? pair & 0xFU : pair >> 4, e2m1);
    }
    case OperandEncoding::scale_ue8m0: {
      const unsigned exponent = word_at<std::uint8_t>(memory, index);
      return exponent == 255 ? not_a_number : std::ldexp(1.0, static_cast<int>(exponent) - 127);
    }
  }
  return not_a_number;
}

}  // namespace scaleworth::gpu
