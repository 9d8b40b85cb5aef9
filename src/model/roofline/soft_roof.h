// SPDX-License-Identifier: Apache-2.0
/// The soft roof: a roofline whose corner is rounded by imperfect overlap of memory and compute.
#pragma once

#include "src/core/outcome.h"
#include "src/core/units.h"
#include "src/model/analysis.h"

#include <cstdint>
#include <span>
#include <vector>

namespace scaleworth::model {

/// Sharpness beyond this looks like a perfect corner (1 % below it at the ridge): the fit's cap.
inline constexpr double largest_sharpness = 64.0;

/// Rate at `intensity`: 1/P(I)^p = 1/P^p + 1/(B I)^p. p = 1: no overlap, the times add; p large:
/// perfect overlap, min(P, B I). Source: roofline of Williams, Waterman, Patterson (CACM 52, 2009)
/// with the p-norm as the usual smooth minimum.
FlopPerSecond soft_roof_rate(FlopPerSecond peak,
                             BytesPerSecond bandwidth,
                             double sharpness,
                             FlopPerByte intensity);

/// One rung of the intensity ladder: rates in FLOP/s, one per repetition.
struct RoofSample {
  FlopPerByte intensity;
  std::vector<double> rates;
};

struct SoftRoofOptions {
  int resamples = 200;  // of each of the two bootstraps
  std::uint64_t seed = 1;
};

/// Fits (P, B, p) to the medians of `ladder` (ascending or not). Minimises
/// sum huber(log rate - log P(I)) over log P, log B, log p by Levenberg-Marquardt from several
/// starts, p in [1, 64]; Huber's corner at 1.345 robust standard deviations, at least 0.5 %.
/// 95 % intervals: the wider of a bootstrap of each point's samples (noise) and of the residuals
/// (misfit). A sharpness whose interval reaches 32 has `sharpness_note` set: the ladder cannot tell
/// it from a perfect corner, and the upper end means "or more". Below 1 the two
/// times would do more than add: a ladder that looks so has another cause and shows it in
/// `median_residual`. Skipped, with the reason, when there are fewer than five rungs, or no rung at
/// least 1.5 x on either side of the ridge: P or B would be an extrapolation.
Outcome<SoftRoof> fit_soft_roof(std::span<const RoofSample> ladder,
                                const SoftRoofOptions& options = {});

}  // namespace scaleworth::model
