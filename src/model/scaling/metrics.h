// SPDX-License-Identifier: Apache-2.0
/// Rows per mode and count: step time, speed-up, efficiency, Karp-Flatt, tokens/s, loss, shares.
#pragma once

#include "src/model/analysis.h"
#include "src/model/scaling/measured.h"

#include <string>
#include <vector>

namespace scaleworth::model {

/// Largest relative difference of losses at one step between counts that still counts as the same
/// training: fp32 sums in another order differ by about 1e-6 a step and grow over some tens of
/// steps; a wrong or missing gradient moves the loss by per cents.
inline constexpr double loss_tolerance = 1e-3;

/// Speed-up is the ratio of tokens/s to the smallest count's (at constant work: of step times), so
/// that it means the same for strong and weak scaling; efficiency = speed-up / (K / K0), which is
/// T1 / TK for weak scaling. Above 1 it is kept: superlinear rows are real.
/// Intervals of ratios by `ratio` of the two medians. MFU and costs are left to their own modules.
std::vector<ScalingRow> scaling_rows(const MeasuredMode& mode);

/// Karp-Flatt metric e(K) = (1/S - 1/K) / (1 - 1/K). `count_ratio` = K / K0 > 1.
/// Source: Karp & Flatt, CACM 33 (1990).
double karp_flatt(double speedup, double count_ratio);

struct Quality {
  bool held = false;
  std::string note;
};

/// Strong scaling: whether the losses agree across counts at every step within `loss_tolerance`.
/// Weak scaling trains on another batch at each count: its losses are not comparable.
Quality quality_of(const MeasuredMode& mode);

}  // namespace scaleworth::model
