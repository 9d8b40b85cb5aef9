// SPDX-License-Identifier: Apache-2.0
/// Library kernels under the measured roof: which limit each one meets, and how closely.
#pragma once

#include "src/core/run/record.h"
#include "src/model/analysis.h"

namespace scaleworth::model {

/// Below this fraction of its roof a kernel is bound by neither side of it.
inline constexpr double bound_above = 0.80;

/// Fills roof, fraction and bound of `gemm`, whose rate, intensity and bandwidth are known:
/// roof = min(ceiling, bandwidth x intensity), without a bandwidth the ceiling alone.
void hold_against(FlopPerSecond ceiling, PlacedGemm& gemm);

/// Fills `gemms` from roofline.gemm, using `ceilings` and `memory` of the same result.
///   intensity = FLOPs / bytes (each matrix moved once); roof = min(ceiling, bandwidth x intensity)
/// with the best FMA ceiling of the same precision and worker count, and the fastest streaming rate
/// over a working set as large as the operands: operands that fit a cache are held against that
/// cache. A GEMM without such a ceiling is left out and named in `warnings`; so is a rate whose
/// whole interval lies more than 5 % above the roof with the next smaller working set's bandwidth.
/// Throws UserError when a point lacks a parameter, an amount or a series.
void place_gemms(const ProbeRecord& probe, RooflineResult& result);

}  // namespace scaleworth::model
