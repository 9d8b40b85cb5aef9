// SPDX-License-Identifier: Apache-2.0
/// Number formats; FMA chains on the host bit by bit.
#pragma once

#include "src/core/figures/vocabulary.h"

#include <cstdint>

namespace scaleworth::probes {
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
