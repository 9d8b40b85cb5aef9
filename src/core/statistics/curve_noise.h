// SPDX-License-Identifier: Apache-2.0
/// How much of a curve is noise, without knowing its shape.
#pragma once

#include <span>

namespace scaleworth {

/// Noise of a curve of logarithms: the lower quartile of its first differences (which a few steps
/// do not reach) or of its second (which straight ramps do not reach), whichever is smaller, scaled
/// to sigma of a normal. 0 below four points. Assumes independent errors of similar size at all
/// points.
double curve_noise(std::span<const double> logs);

}  // namespace scaleworth
