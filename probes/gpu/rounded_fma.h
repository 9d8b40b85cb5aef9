// SPDX-License-Identifier: Apache-2.0
/// Chains of fused multiply-adds as a GPU computes them, on the host, bit by bit.
#pragma once

#include "probes/gpu/number_format.h"

#include <cstdint>

namespace scaleworth::probes {

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
