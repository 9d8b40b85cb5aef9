// SPDX-License-Identifier: Apache-2.0
/// Number formats; FMA chains on the host bit by bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::probes {
/// tf32: 32-bit operands multiplied with 10 bits of mantissa. fp8_block: e4m3 with one fp32 scale
/// per block of 128 (cc 9.0). mxfp8: e4m3 with one power of two per 32; nvfp4: e2m1 with one e4m3
/// scale per 16 (both cc 10.0 and later).
enum class NumberFormat {
  fp64,
  fp32,
  tf32,
  bf16,
  fp16,
  fp8_e4m3,
  fp8_e5m2,
  fp8_block,
  int8,
  mxfp8,
  nvfp4
};
inline constexpr auto all_number_formats = [] {
  std::array<NumberFormat, static_cast<std::size_t>(NumberFormat::nvfp4) + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<NumberFormat>(i);
  return all;
}();

const char* number_format_name(NumberFormat format);  // "fp64", "fp8_e4m3", ...
std::optional<NumberFormat> parse_number_format(std::string_view name);
/// Of one element in memory, scales left out; nvfp4: 0.5.
double element_bytes(NumberFormat format);
/// Of one element of a product's output: 8 for fp64; 4 for fp32, tf32 and int8 (int32); else 2.
double output_element_bytes(NumberFormat format);
/// Multiples that the sides of a product must be of: 8-bit and narrower formats need rows of whole
/// 16 bytes, block scales whole blocks along k.
struct Granularity {
  std::int64_t outer = 1;  // m and n
  std::int64_t inner = 1;  // k
};
Granularity granularity(NumberFormat format);
/// Whether the format has tensor-core products at this compute capability (10 major + minor): bf16
/// from 80, tf32 from 80, fp64 as tensor from 80, fp8 from 89, fp8_block 90, mxfp8 and nvfp4 from
/// 100. What the library then supports is known only when asked.
bool has_format(NumberFormat format, int compute_capability);

/// Constants of x = x a + b with |a| < 1, both exact in the format: a is the number next to -1, so
/// that x goes to and fro between about x and b - x for many thousand steps: no constant, no
/// denormal, no overflow. fp64, fp32, fp16, bf16; NothingToMeasure for others.
struct ChainConstants {
  double a = 0.0;
  double b = 0.0;
};
ChainConstants chain_constants(NumberFormat format);

/// `steps` of x = x a + b, each rounded once, to nearest even, to the format's precision. Results
/// must be normal numbers of the format, as they are for |x| <= 1 and the constants above.
double rounded_chain(NumberFormat format, double x, const ChainConstants& constants, int steps);

/// The number that 16 bits stand for in IEEE 754 binary16, and in bfloat16.
double fp16_value(std::uint16_t bits);
double bf16_value(std::uint16_t bits);
}  // namespace scaleworth::probes
