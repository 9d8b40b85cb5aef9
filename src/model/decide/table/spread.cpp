// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/spread.h"

#include <cmath>

namespace scaleworth::decide {

std::optional<double> relative_sd(const std::vector<double>& times) {
  if (times.size() < 2) return std::nullopt;
  double mean = 0.0;
  for (const double time : times) mean += time / static_cast<double>(times.size());
  double squares = 0.0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return std::sqrt(squares / static_cast<double>(times.size() - 1)) / mean;
}

}  // namespace scaleworth::decide
