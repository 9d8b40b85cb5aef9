// SPDX-License-Identifier: Apache-2.0
/// A random order in which one thread visits all of many places and returns.
#pragma once

#include <cstdint>
#include <vector>

namespace scaleworth::probes {

/// next[i] is the place after place i: one cycle through all `count` places, each such cycle
/// equally likely, the same for the same seed. Sattolo's algorithm (Information Processing Letters
/// 22, 1986). `count` at least 1.
std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed);

/// The place `steps` after `start`.
std::uint32_t place_after(const std::vector<std::uint32_t>& next,
                          std::uint32_t start,
                          std::uint64_t steps);

}  // namespace scaleworth::probes
