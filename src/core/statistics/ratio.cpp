// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/ratio.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace scaleworth {
namespace {

bool positive_and_finite(double value) {
  return std::isfinite(value) && value > 0.0;
}

}  // namespace

Estimate<double> ratio(const Estimate<double>& a, const Estimate<double>& b) {
  if (!positive_and_finite(a.value) || !positive_and_finite(b.value))
    throw std::invalid_argument("ratio: values must be positive and finite");
  Estimate<double> result{a.value / b.value, std::nullopt, std::min(a.samples, b.samples)};
  if (!a.interval || !b.interval || a.interval->low <= 0.0 || b.interval->low <= 0.0) return result;
  const double below =
      std::hypot(std::log(a.value / a.interval->low), std::log(b.interval->high / b.value));
  const double above =
      std::hypot(std::log(a.interval->high / a.value), std::log(b.value / b.interval->low));
  result.interval =
      Interval<double>{result.value * std::exp(-below), result.value * std::exp(above)};
  return result;
}

}  // namespace scaleworth
