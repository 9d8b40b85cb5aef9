// SPDX-License-Identifier: Apache-2.0
/// Ratios of measured values with the uncertainty of both: speed-up, efficiency, ridge point.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"

namespace scaleworth {

/// a / b of two independent positive estimates. The interval combines the two in logarithms,
///   ln low  = ln(a/b) - sqrt(ln^2(a / a.low)  + ln^2(b.high / b)),
///   ln high = ln(a/b) + sqrt(ln^2(a.high / a) + ln^2(b / b.low)),
/// which keeps both intervals' asymmetry and needs no distribution ("MOVER": Zou & Donner,
/// Statistics in Medicine 27, 2008; square-and-add: Newcombe 1998). Its confidence is that of the
/// intervals given. Absent when either has none (a factor that is known exactly belongs into
/// `transform`) or reaches down to 0. The sample count is the smaller one.
/// Throws std::invalid_argument for values that are not positive and finite.
Estimate<double> ratio(const Estimate<double>& a, const Estimate<double>& b);

/// The same for quantities; like over like is a plain number.
template <int S1, int B1, int F1, int D1, int S2, int B2, int F2, int D2>
auto ratio(const Estimate<Quantity<S1, B1, F1, D1>>& a,
           const Estimate<Quantity<S2, B2, F2, D2>>& b) {
  using Result = decltype(a.value / b.value);
  const auto number = [](auto quantity) { return quantity.value(); };
  return transform(ratio(transform(a, number), transform(b, number)),
                   [](double value) { return Result(value); });
}

}  // namespace scaleworth
