// SPDX-License-Identifier: Apache-2.0
/// The order in which the settings of a probe are measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace scaleworth::probes {

/// Shuffles `works`, the same way every time, so that a drift of the machine becomes noise along
/// every axis instead of an effect of size.
template <class Work>
void in_random_order(std::vector<Work>& works, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  for (std::size_t i = works.size(); i > 1; --i) std::swap(works[i - 1], works[random() % i]);
}

}  // namespace scaleworth::probes
