// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/student_t.h"

#include <stdexcept>

#include <unsupported/Eigen/SpecialFunctions>

namespace scaleworth {
namespace {

/// P(|T| > t).
double exceeding(double t, double degrees_of_freedom) {
  return Eigen::numext::betainc(
      degrees_of_freedom / 2.0, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t));
}

}  // namespace

double student_t_two_sided(double confidence, double degrees_of_freedom) {
  if (!(confidence > 0.0 && confidence < 1.0 && degrees_of_freedom > 0.0)) {
    throw std::invalid_argument("student_t_two_sided: confidence or degrees of freedom");
  }
  const auto exceeded = [&](double t) { return exceeding(t, degrees_of_freedom); };
  double low = 0.0;
  double high = 1.0;
  while (exceeded(high) > 1.0 - confidence) high *= 2.0;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2.0;
    (exceeded(middle) > 1.0 - confidence ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

double student_t_below(double t, double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0.0)) {
    throw std::invalid_argument("student_t_below: degrees of freedom");
  }
  const double tail = 0.5 * exceeding(t, degrees_of_freedom);
  return t > 0.0 ? 1.0 - tail : tail;
}

}  // namespace scaleworth
