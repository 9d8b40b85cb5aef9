// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/numbers.h"

#include "src/core/finding.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace scaleworth::probes {
namespace {
struct FormatFacts {
  NumberFormat format;
  Granularity granularity;
  int from_capability;
  int to_capability;
  int significant_bits;  // of a multiply-add of the CUDA cores; 0: there is none
};

constexpr int any = 1000;  // compute capability: above any
// In the order of the enumeration.
constexpr std::array facts{FormatFacts{NumberFormat::fp64, {1, 1}, 0, any, 53},
                           FormatFacts{NumberFormat::fp32, {1, 1}, 0, any, 24},
                           FormatFacts{NumberFormat::tf32, {1, 1}, 80, any, 0},
                           FormatFacts{NumberFormat::bf16, {1, 1}, 80, any, 8},
                           FormatFacts{NumberFormat::fp16, {1, 1}, 70, any, 11},
                           FormatFacts{NumberFormat::fp8_e4m3, {16, 16}, 89, any, 0},
                           FormatFacts{NumberFormat::fp8_e5m2, {16, 16}, 89, any, 0},
                           FormatFacts{NumberFormat::fp8_block, {16, 128}, 90, 90, 0},
                           FormatFacts{NumberFormat::int8, {16, 16}, 75, any, 0},
                           FormatFacts{NumberFormat::mxfp8, {32, 32}, 100, any, 0},
                           FormatFacts{NumberFormat::nvfp4, {32, 32}, 100, any, 0}};
static_assert(std::ranges::equal(facts, every<NumberFormat>, {}, &FormatFacts::format));

const FormatFacts& format_facts(NumberFormat format) {
  return facts.at(index_of(format));
}

int significant_bits(NumberFormat format) {
  const int bits = format_facts(format).significant_bits;
  if (bits > 0) return bits;
  throw NothingToMeasure(FindingId::no_multiply_add, key_of(format));
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

Granularity granularity(NumberFormat format) {
  return format_facts(format).granularity;
}

bool has_format(NumberFormat format, int compute_capability) {
  const FormatFacts& entry = format_facts(format);
  return compute_capability >= entry.from_capability && compute_capability <= entry.to_capability;
}

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
