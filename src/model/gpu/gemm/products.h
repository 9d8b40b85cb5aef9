// SPDX-License-Identifier: Apache-2.0
/// Measured matrix products of a GPU: rate, clock, power, and their share of the peak.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

// Values of the parameters `pass`, `family` and `regime`.
inline constexpr const char* pass_coarse = "coarse";
inline constexpr const char* pass_fine = "fine";
inline constexpr const char* pass_burst = "burst";
inline constexpr const char* pass_steady = "steady";
inline constexpr const char* pass_duty_cycled = "duty-cycled";
inline constexpr const char* family_own = "own";
inline constexpr const char* regime_gap_free = "gap-free";

/// Bytes of an element of the operands and of the product. Absent for a format unknown here.
struct ElementBytes {
  double input = 0.0;
  double output = 0.0;
};
/// Output: 8 for fp64; 4 for fp32, tf32 and int8 (int32); 2 otherwise. Block scales left out.
std::optional<ElementBytes> element_bytes(const std::string& precision);

/// "bf16", "fp8_e4m3 fast": fp8 by the way it accumulates.
std::string format_text(const std::string& precision, bool fast_accumulation);

/// "bf16 8192 x 8192 x 8192", with the batch where it is not 1.
std::string product_text(const GpuGemm& gemm);

/// A point of roofline.gpu.gemm, of contention or of all GPUs together. Absent without samples.
/// Energy per FLOP needs products without gaps and a window of 2 s. Throws UserError when a point
/// lacks a parameter or an amount.
std::optional<GpuGemm> product_of(const Point& point,
                                  const GpuIdentity& gpu,
                                  std::optional<FlopPerSecond> given);

/// All of `probe`; those that the clock forbids are left out and named in `warnings`.
std::vector<GpuGemm> products_of(const ProbeRecord& probe,
                                 const GpuIdentity& gpu,
                                 std::optional<FlopPerSecond> given,
                                 std::vector<std::string>& warnings);

}  // namespace scaleworth::model
