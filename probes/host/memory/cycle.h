// SPDX-License-Identifier: Apache-2.0
/// A random cycle of pointers through memory, one per line: each load's address is the last one's
/// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scaleworth::probes::host {

/// Writes to the start of every `line` bytes of `memory` the address of another, so that following
/// them visits every line once before it returns: Sattolo's algorithm (Information Processing
/// Letters 22, 1986), which draws all such cycles with equal probability. `memory` must hold at
/// least two lines and `line` be a multiple of a pointer's size.
void write_cycle(std::span<std::byte> memory, std::size_t line, std::uint64_t seed);

/// Follows `loads` pointers (a multiple of 16) from `start`.
void* follow_cycle(void* start, std::int64_t loads);

}  // namespace scaleworth::probes::host
