// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/choice/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::decide {
namespace {

constexpr int bisections = 40;
constexpr double step = 2.0;
/// Equal costs, up to rounding, keep the count that was chosen.
constexpr double rounding = 1e-12;

class Search {
 public:
  Search(const CostInput& input, std::size_t rows, std::size_t cheapest)
      : input_(input), rows_(rows), cheapest_(cheapest) {}

  bool stays(double x) const {
    const double own = input_.cost(x, cheapest_);
    if (!std::isfinite(own)) return false;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (input_.cost(x, row) < own * (1.0 - rounding)) return false;
    }
    return true;
  }

  /// Where it changes on the way from the value by `factor` a step; absent where it does not.
  std::optional<double> edge(double from, double factor, double last) const {
    double inside = from;
    while (inside != last) {
      double next = inside * factor;
      if (factor > 1.0 ? next > last : next < last) next = last;
      if (!stays(next)) return bisected(inside, next);
      inside = next;
    }
    return std::nullopt;
  }

 private:
  double bisected(double inside, double outside) const {
    for (int i = 0; i < bisections; ++i) {
      const double middle = 0.5 * (inside + outside);
      (stays(middle) ? inside : outside) = middle;
    }
    return inside;
  }

  const CostInput& input_;
  std::size_t rows_;
  std::size_t cheapest_;
};

double elasticity(const CostInput& input, std::size_t row) {
  constexpr double change = 1e-4;
  if (!(input.value > 0.0)) return 0.0;
  const double up = input.cost(input.value * (1.0 + change), row);
  const double down = input.cost(input.value * (1.0 - change), row);
  return (std::log(up) - std::log(down)) / (std::log1p(change) - std::log1p(-change));
}

}  // namespace

Sensitivity sensitivity(const CostInput& input, std::size_t rows, std::size_t cheapest) {
  Sensitivity result{input.name, input.unit, input.value, {}, {}, elasticity(input, cheapest)};
  const Search search(input, rows, cheapest);
  const double base = input.value > 0.0 ? input.value : input.scale / sensitivity_reach;
  if (input.value > 0.0) {
    result.low = search.edge(base, 1.0 / step, base / sensitivity_reach);
  } else if (!search.stays(base)) {
    result.high = 0.0;
    return result;
  }
  const double reach =
      input.value > 0.0 ? base * sensitivity_reach : input.scale * sensitivity_reach;
  if (base < input.most) result.high = search.edge(base, step, std::min(reach, input.most));
  return result;
}

}  // namespace scaleworth::decide
