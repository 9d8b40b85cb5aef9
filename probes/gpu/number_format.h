// SPDX-License-Identifier: Apache-2.0
/// Number formats that a GPU multiplies in.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace scaleworth::probes {

/// tf32: 32-bit operands multiplied with 10 bits of mantissa. fp8_block: e4m3 with one fp32 scale per
/// block of 128 (cc 9.0). mxfp8: e4m3 with one power of two per 32; nvfp4: e2m1 with one e4m3 scale
/// per 16 (both cc 10.0 and later).
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
inline constexpr std::array all_number_formats{NumberFormat::fp64,
                                               NumberFormat::fp32,
                                               NumberFormat::tf32,
                                               NumberFormat::bf16,
                                               NumberFormat::fp16,
                                               NumberFormat::fp8_e4m3,
                                               NumberFormat::fp8_e5m2,
                                               NumberFormat::fp8_block,
                                               NumberFormat::int8,
                                               NumberFormat::mxfp8,
                                               NumberFormat::nvfp4};

const char* number_format_name(NumberFormat format);  // "fp64", "fp8_e4m3", ...
std::optional<NumberFormat> parse_number_format(std::string_view name);
/// Of one element in memory, scales left out; nvfp4: 0.5.
double element_bytes(NumberFormat format);
/// Whether the format has tensor-core products at this compute capability (10 major + minor): bf16
/// from 80, tf32 from 80, fp64 as tensor from 80, fp8 from 89, fp8_block 90, mxfp8 and nvfp4 from 100.
/// What the library then supports is known only when asked.
bool has_format(NumberFormat format, int compute_capability);

}  // namespace scaleworth::probes
