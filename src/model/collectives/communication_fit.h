// SPDX-License-Identifier: Apache-2.0
/// Time of a collective as a function of its size: three forms, fitted by relative error.
#pragma once

#include "src/model/analysis.h"
#include "src/model/collectives/segmentation.h"

#include <optional>
#include <span>
#include <vector>

namespace scaleworth::model {

inline constexpr const char* form_alpha_beta = "alpha-beta";
inline constexpr const char* form_sqrt = "alpha-beta-sqrt";
inline constexpr const char* form_segmented = "segmented";

/// The fits of `points` (ascending sizes, no duplicates, positive), in this order where they have
/// enough points:
///   alpha-beta       t = alpha + beta n                  Hockney; from 3 points
///   alpha-beta-sqrt  t = alpha + beta n + c sqrt(n)      pipelined chains; from 4 points
///   segmented        alpha-beta in one to three segments of at least 3 points; from 6 points
/// Coefficients >= 0, Huber's loss of the relative error (`fit_relative`). Intervals of alpha and
/// beta: Student t from that regression's robust covariance, so they contain misfit as well as
/// noise; in the segmented form given the boundaries; absent for a coefficient at 0.
/// `held_out_error`: mean |relative error| at the 2nd, 4th, ... size of the same form fitted to the
/// 1st, 3rd, ...: interpolation within one run, not variation between runs; absent below six
/// points. Source: Hockney 1994; the sqrt term from T = (p-2) a + n b + 2 sqrt((p-2) a n b) of a
/// chain with the best chunk size (Thakur, Rabenseifner, Gropp 2005).
std::vector<CommunicationFit> fit_communication(std::span<const TimedSize> points);

/// Index of the fit with the least held-out error; one that is better by less than 0.1 percentage
/// point does not replace an earlier, simpler one. 0 when none has such an error.
std::size_t choose_fit(std::span<const CommunicationFit> fits);

}  // namespace scaleworth::model
