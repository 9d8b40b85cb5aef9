// SPDX-License-Identifier: Apache-2.0
/// Suite, pace, order of settings.
#pragma once

#include "src/core/statistics/sampling.h"
#include "src/core/units.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace scaleworth::probes {
/// quick: under a minute, coarse grids. standard: about four minutes, six on a GPU, the full grids.
enum class Suite { quick, standard };
const char* suite_name(Suite suite);
/// Throws UserError listing the known names.
Suite parse_suite(const std::string& name);

struct Pace {
  Seconds budget;               // the stopping rule's
  std::size_t minimum_samples;  // fit 70 % of the budget
};
StoppingTarget target_of(const Pace& pace);

struct SuitePace {
  Pace quick;
  Pace standard;
  constexpr const Pace& operator()(Suite suite) const {
    return suite == Suite::quick ? quick : standard;
  }
};

/// How long a sample may last for `minimum_samples` to fit 70 % of the budget.
Seconds fitting_sample(const StoppingTarget& target);

/// Time of one setting at this pace: samples (the stopping rule ends at 70 % of the budget on most
/// settings of a quiet machine, at 100 % otherwise) and the calibration before them.
Seconds time_per_setting(const Pace& pace);

/// whole(size) for sizes from `smallest` by `factor`, and for `largest`, which is at least half a
/// factor above the one before.
template <class Whole>
auto geometric(double smallest, double largest, double factor, const Whole& whole) {
  std::vector<decltype(whole(largest))> sizes;
  for (double size = smallest; size * std::sqrt(factor) < largest; size *= factor) {
    sizes.push_back(whole(size));
  }
  sizes.push_back(whole(largest));
  return sizes;
}

/// Shuffles `works`, the same way every time, so that a drift of the machine becomes noise along
/// every axis instead of an effect of size.
template <class Work>
void in_random_order(std::vector<Work>& works, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  for (std::size_t i = works.size(); i > 1; --i) std::swap(works[i - 1], works[random() % i]);
}
}  // namespace scaleworth::probes
