// SPDX-License-Identifier: Apache-2.0
/// The performance-model normal form of one parameter: a constant and one term, for curves whose
/// shape is not known.
#pragma once

#include "src/model/scaling/forecast/family.h"

#include <cstddef>
#include <span>

namespace scaleworth::model {

/// K T(K) = a + b K^i log2(K)^j, a and b >= 0, with the pair (i, j) out of 42 that predicts best
/// with each point left out once (symmetric mean absolute percentage error), or b = 0 where no term
/// does. Coefficients a, b, i, j. K T rather than T, for the terms only grow: a time that falls and
/// rises again is beyond the form. No term with fewer than five points, which a choice among 42
/// would meet by chance. Source: Calotoiu et al., SC 13, and the pairs of the tool Extra-P 4.2.
FittedLaw fit_normal_form(std::span<const LawPoint> points);
inline constexpr std::size_t least_normal_form_points = 5;

}  // namespace scaleworth::model
