// SPDX-License-Identifier: Apache-2.0
/// How far each input may move before another count becomes the cheapest, and what it does to the
/// least cost.
#pragma once

#include "src/core/estimate.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// One input of the cost of every count, the others held.
struct CostInput {
  std::string name;    // "price per rank"
  std::string unit;    // "USD/h", empty for a pure number
  double value = 0.0;  // >= 0
  double scale = 1.0;  // > 0: what to step by where the value is 0
  double most = std::numeric_limits<double>::infinity();  // the input cannot exceed it
  /// Cost at count number `row` if the input were `x`; not finite: that count does not end.
  std::function<double(double x, std::size_t row)> cost;
};

struct Sensitivity {
  std::string name;
  std::string unit;
  double value = 0.0;
  /// The cheapest count stays between these; absent: as far as was looked (`sensitivity_reach`
  /// times the value either way, or what the input can be).
  std::optional<double> low;
  std::optional<double> high;
  double elasticity = 0.0;  // per cent of least cost per per cent of the input, at K*
};
inline constexpr double sensitivity_reach = 1000.0;

/// The range around the input's value in which row `cheapest` stays the cheapest of `rows`, to a
/// relative 1e-6, by doubling and bisection: another count that is cheapest within one step only
/// may be missed, which cannot be for an input that all costs are linear in. Elasticity by a
/// central difference of 0.01 %.
Sensitivity sensitivity(const CostInput& input, std::size_t rows, std::size_t cheapest);

}  // namespace scaleworth::decide
