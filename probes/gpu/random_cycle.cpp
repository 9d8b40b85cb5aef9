// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/random_cycle.h"

#include <numeric>
#include <random>
#include <utility>

namespace scaleworth::probes {

std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(seed);
  for (std::uint32_t i = count; i-- > 1;) {
    // The bias of a remainder of 64 random bits is below 2^-32.
    std::swap(next[i], next[random() % i]);
  }
  return next;
}

std::uint32_t place_after(const std::vector<std::uint32_t>& next,
                          std::uint32_t start,
                          std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) start = next[start];
  return start;
}

}  // namespace scaleworth::probes
