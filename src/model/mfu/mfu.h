// SPDX-License-Identifier: Apache-2.0
/// Model FLOPs utilisation: the model's FLOPs over what the hardware could have done meanwhile.
#pragma once

#include "src/core/units.h"
#include "src/model/analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// The convention behind every MFU of this tool, for the reader.
inline constexpr const char* mfu_convention =
    "model FLOPs: matrix multiplications of forward and backward, full (not causal) attention, no "
    "recomputation";

/// MFU = model FLOPs / (step time x peak of all ranks). Above 1 means that the peak is not one.
/// Throws UserError when `step` or `peak` is not positive.
/// Source: Chowdhery et al., PaLM (arXiv 2204.02311), appendix B.
double model_flops_utilisation(Flops model_flops, Seconds step, FlopPerSecond peak);

/// A measured peak of several ranks and how it came about.
struct RankPeak {
  FlopPerSecond rate;
  std::string basis;  // "AVX2 fp32 FMA, 2 workers at once, wall clock"
};

/// The FMA ceiling of `ranks` single-threaded ranks, fp32, fastest instruction set: the rate of
/// `ranks` workers measured at once where that was measured, else `ranks` times one worker's.
/// The rate per thread-CPU-second takes the place of the wall rate where the host was contended:
/// a busy host is not a slow one. Absent when no fp32 ceiling fits.
std::optional<RankPeak> measured_peak(const std::vector<ComputeCeiling>& ceilings, int ranks);

}  // namespace scaleworth::model
