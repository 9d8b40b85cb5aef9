// SPDX-License-Identifier: Apache-2.0
/// A random order that is the same on every rank and in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace scaleworth::probes {

/// std::shuffle is free to differ between standard libraries, and ranks must agree on the order.
template <class T>
void shuffle_alike(std::vector<T>& items) {
  constexpr std::uint64_t order_seed = 20241;
  std::mt19937_64 random(order_seed);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

}  // namespace scaleworth::probes
