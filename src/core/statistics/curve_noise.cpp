// SPDX-License-Identifier: Apache-2.0
#include "src/core/statistics/curve_noise.h"

#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaleworth {

double curve_noise(std::span<const double> logs) {
  constexpr double quartile_of_normal = 0.3186;  // lower quartile of |N(0, 1)|
  if (logs.size() < 4) return 0.0;
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 1; i < logs.size(); ++i) first.push_back(std::abs(logs[i] - logs[i - 1]));
  for (std::size_t i = 2; i < logs.size(); ++i) {
    second.push_back(std::abs(logs[i] - 2.0 * logs[i - 1] + logs[i - 2]));
  }
  // Differences of independent errors have variance 2 sigma^2 and 6 sigma^2.
  return std::min(*quantile(first, 0.25) / std::sqrt(2.0),
                  *quantile(second, 0.25) / std::sqrt(6.0)) /
         quartile_of_normal;
}

}  // namespace scaleworth
