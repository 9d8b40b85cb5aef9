// SPDX-License-Identifier: Apache-2.0
/// `Figure`: one number that a model gives, at its setting. What comparisons join.
#pragma once

#include "src/core/estimate.h"
#include "src/core/figures/metric.h"
#include "src/core/figures/setting.h"

namespace scaleworth {
/// Where a figure comes from. Two figures of one metric and setting may differ in it.
enum class Basis : std::uint8_t { measured, fitted, predicted };

struct Figure {
  Metric metric = Metric::bus_bandwidth;
  Setting setting;
  Basis basis = Basis::measured;
  Estimate<double> value;  // base units of the metric
  /// The same figure of each run alone, where there are several: how far they spread.
  std::vector<double> repeats{};
};
}  // namespace scaleworth
