// SPDX-License-Identifier: Apache-2.0
/// Rates of a GPU held against its datasheet, at the datasheet's clock and at the measured one.
#pragma once

#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// A peak to hold rates against.
struct NamedPeak {
  DatasheetPeak peak;
  std::string basis;  // "datasheet bf16, dense, at 1830 MHz"
};

/// The dense peak of tensor products (fp32 and, without tensor units for it, fp64: of the CUDA
/// cores) or, `cuda_cores`, of fused multiply-adds outside the tensor units. `given` (--peak) takes
/// the place of the bf16 tensor peak. Absent when neither knows: a peak is never guessed.
std::optional<NamedPeak> peak_of(const GpuIdentity& gpu,
                                 const std::string& precision,
                                 bool cuda_cores,
                                 std::optional<FlopPerSecond> given);

/// eta_spec = rate / peak; with f the measured clock and c = peak / (multiprocessors x clock) of
/// the datasheet, eta_clk = rate / (multiprocessors x c x f). The latter is absent without
/// `clock_hz`, or when the clock that the peak is computed at is not known.
AgainstPeak against_peak(const GpuIdentity& gpu,
                         const NamedPeak& named,
                         const Estimate<FlopPerSecond>& rate,
                         std::optional<double> clock_hz);

/// Why `against` cannot be: the whole interval of the rate lies above what the multiprocessors do
/// per clock at the highest clock (x 1.005). Empty when it can.
std::string impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against);

}  // namespace scaleworth::model
