// SPDX-License-Identifier: Apache-2.0
/// Student's t distribution, for intervals of fitted coefficients.
#pragma once

namespace scaleworth {

/// The t with P(|T| <= t) = `confidence` for `degrees_of_freedom` > 0; 0 < confidence < 1, else
/// std::invalid_argument. Solved by bisection from P(|T| > t) = I_{v/(v + t^2)}(v/2, 1/2), the
/// regularised incomplete beta function (Abramowitz & Stegun 26.7.1).
double student_t_two_sided(double confidence, double degrees_of_freedom);

/// P(T <= t) for `degrees_of_freedom` > 0, else std::invalid_argument.
double student_t_below(double t, double degrees_of_freedom);

}  // namespace scaleworth
