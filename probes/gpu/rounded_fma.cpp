// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/rounded_fma.h"

#include "src/core/error.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

int significant_bits(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64:
      return 53;
    case NumberFormat::fp32:
      return 24;
    case NumberFormat::fp16:
      return 11;
    case NumberFormat::bf16:
      return 8;
    default:
      throw NothingToMeasure(fmt::format("the CUDA cores have no fused multiply-add in {}",
                                         number_format_name(format)));
  }
}

/// To nearest even, as the default rounding mode of nearbyint.
double rounded(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

double step(int bits, double x, const ChainConstants& constants) {
  if (bits == 53) return std::fma(x, constants.a, constants.b);
  if (bits == 24) {
    return std::fma(
        static_cast<float>(x), static_cast<float>(constants.a), static_cast<float>(constants.b));
  }
  // Exact in fp64: a product of 22 bits at most and an addend of similar size.
  return rounded(x * constants.a + constants.b, bits);
}

}  // namespace

ChainConstants chain_constants(NumberFormat format) {
  // 21/64: five significant bits, so exact in every format.
  return {-(1.0 - std::ldexp(1.0, -significant_bits(format))), 21.0 / 64.0};
}

double rounded_chain(NumberFormat format, double x, const ChainConstants& constants, int steps) {
  const int bits = significant_bits(format);
  for (int i = 0; i < steps; ++i) x = step(bits, x, constants);
  return x;
}

double fp16_value(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const int fraction = bits & 1023;
  double value = 0.0;
  if (exponent == 31) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}

double bf16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace scaleworth::probes
