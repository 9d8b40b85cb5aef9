// SPDX-License-Identifier: Apache-2.0
/// Orders in which the shim runs blocks and threads: a result that depends on them is a race.
#pragma once

#include "tests/catch.h"

#include <cstring>
#include <vector>

namespace scaleworth::simt {
enum class Order { forward, backward, shuffled };
/// Of the launches from now on: which block, warp and lane goes first.
void set_order(Order order, unsigned seed = 0);

/// What `run` returns, which must be the same to the bit whichever thread goes first.
template <class Run>
auto in_every_order(Run run) {
  set_order(Order::forward);
  const auto first = run();
  using Value = typename decltype(first)::value_type;
  const auto check = [&](const char* name, Order order, unsigned seed) {
    INFO("threads run " << name << ", seed " << seed);
    set_order(order, seed);
    const auto other = run();
    set_order(Order::forward);
    REQUIRE(other.size() == first.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      different += std::memcmp(&first[i], &other[i], sizeof(Value)) != 0 ? 1 : 0;
    }
    REQUIRE(different == 0);
  };
  check("backward", Order::backward, 0);
  check("shuffled", Order::shuffled, 1);
  check("shuffled", Order::shuffled, 2);
  return first;
}
}  // namespace scaleworth::simt
