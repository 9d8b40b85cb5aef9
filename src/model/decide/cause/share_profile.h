// SPDX-License-Identifier: Apache-2.0
/// How a loss may be divided between two growths, by the times alone.
#pragma once

#include "src/model/decide/cause/shape_fit.h"

#include <optional>
#include <vector>

namespace scaleworth::decide {

/// Each end of the interval is passed by so many tables at random.
inline constexpr double share_error = 0.1;

/// Of the loss at `ratio`, what is level rather than falling short (log2(r)/r), in 0 to 1: every
/// share whose best fit, with T1 and the size of the loss free, is not worse than the free one by
/// more than `share_error` on one side allows (Student's t with the residuals' degrees of freedom;
/// the normal distribution where `fits` hold a measured spread). A share is a linear hypothesis on
/// the three terms, so that the error is met exactly for normal relative noise (Fieller 1954).
/// One value where even the nearest share is refuted: the times bend more than either growth. The
/// whole of 0 to 1 where the terms see no loss. `fits` are those of `points`, the richest of ideal,
/// level and falling short. Absent without a spread of the times.
std::optional<Interval<double>> level_share_profile(const std::vector<ShapePoint>& points,
                                                    const ShapeFits& fits,
                                                    double ratio);

}  // namespace scaleworth::decide
