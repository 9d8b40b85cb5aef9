// SPDX-License-Identifier: Apache-2.0
/// Encoded numbers as the host reads them back.
#pragma once

#include "cuda/kernels/gemm/fill_operands.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace scaleworth::gpu {

/// Bits of one number in memory.
int encoded_bits(OperandEncoding encoding);

/// The value of number `index` in `memory`, exactly; e2m1: two to a byte, the first in the low
/// half. A pattern that stands for no number gives NaN. Sources: IEEE 754; OCP 8-bit floating point
/// specification 1.0 (e4m3 has no infinities, e5m2 has); OCP microscaling formats 1.0 (e2m1, e8m0).
double decoded(OperandEncoding encoding, std::span<const std::byte> memory, std::size_t index);

/// The encoding of D in memory by its bytes and the type of the operands.
double decoded_bf16(std::uint16_t bits);
double decoded_f16(std::uint16_t bits);

}  // namespace scaleworth::gpu
