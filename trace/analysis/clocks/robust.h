// SPDX-License-Identifier: Apache-2.0
/// Where weighted observations lie, and how they drift, whatever a few of them say.
#pragma once

#include <optional>
#include <vector>

namespace scaleworth::trace {

/// A value seen at `at` (any unit; only for slopes).
struct WeightedValue {
  double value = 0.0;
  double weight = 1.0;
  double at = 0.0;
};

/// The smallest value below or at which at least the share `p` of all weight lies. Absent for no
/// values.
std::optional<double> weighted_quantile(std::vector<WeightedValue> values, double p);

struct RobustLocation {
  double center = 0.0;  // weighted median: minimises sum_i w_i |v_i - center|
  double scale = 0.0;   // 1.4826 * weighted median of |v_i - center|: sigma of a normal
};
/// The median and not a mean with outliers cut, because ends often agree at two distances, by who
/// came last: the median stays with the larger number. Absent for no values.
std::optional<RobustLocation> robust_location(const std::vector<WeightedValue>& values);

struct RobustSlope {
  double slope = 0.0;
  double standard_error = 0.0;
  double span = 0.0;  // of `at`
};
/// Slope of value over `at`, with the weights that Huber's rho gives the residuals of each pass.
/// Absent for fewer than three values and without spread of `at`.
std::optional<RobustSlope> huber_slope(const std::vector<WeightedValue>& values);

}  // namespace scaleworth::trace
