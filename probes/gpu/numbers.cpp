// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/numbers.h"

#include "src/core/error.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {
struct FormatFacts {
  NumberFormat format;
  const char* name;
  double bytes;
  int from_capability;
  int to_capability;
};

constexpr int any = 1000;
// In the order of the enumeration.
constexpr std::array facts{FormatFacts{NumberFormat::fp64, "fp64", 8.0, 0, any},
                           FormatFacts{NumberFormat::fp32, "fp32", 4.0, 0, any},
                           FormatFacts{NumberFormat::tf32, "tf32", 4.0, 80, any},
                           FormatFacts{NumberFormat::bf16, "bf16", 2.0, 80, any},
                           FormatFacts{NumberFormat::fp16, "fp16", 2.0, 70, any},
                           FormatFacts{NumberFormat::fp8_e4m3, "fp8_e4m3", 1.0, 89, any},
                           FormatFacts{NumberFormat::fp8_e5m2, "fp8_e5m2", 1.0, 89, any},
                           FormatFacts{NumberFormat::fp8_block, "fp8_block", 1.0, 90, 90},
                           FormatFacts{NumberFormat::int8, "int8", 1.0, 75, any},
                           FormatFacts{NumberFormat::mxfp8, "mxfp8", 1.0, 100, any},
                           FormatFacts{NumberFormat::nvfp4, "nvfp4", 0.5, 100, any}};
static_assert(facts.size() == all_number_formats.size());

const FormatFacts& facts_of(NumberFormat format) {
  return facts.at(static_cast<std::size_t>(format));
}
}  // namespace

const char* number_format_name(NumberFormat format) {
  return facts_of(format).name;
}

std::optional<NumberFormat> parse_number_format(std::string_view name) {
  for (const FormatFacts& entry : facts) {
    if (name == entry.name) return entry.format;
  }
  return std::nullopt;
}

double element_bytes(NumberFormat format) {
  return facts_of(format).bytes;
}

bool has_format(NumberFormat format, int compute_capability) {
  const FormatFacts& entry = facts_of(format);
  return compute_capability >= entry.from_capability && compute_capability <= entry.to_capability;
}

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
