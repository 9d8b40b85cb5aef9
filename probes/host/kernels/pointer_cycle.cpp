// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/memory.h"

#include <random>
#include <utility>

namespace scaleworth::probes::host {
namespace {
__extension__ typedef unsigned __int128 Wide;

/// The pointer at the start of a line.
void*& link(std::byte* line) {
  return *reinterpret_cast<void**>(line);
}
}  // namespace

void write_cycle(std::span<std::byte> memory, std::size_t line, std::uint64_t seed) {
  const std::size_t lines = memory.size() / line;
  for (std::size_t i = 0; i < lines; ++i) link(&memory[i * line]) = &memory[i * line];
  std::mt19937_64 random(seed);
  for (std::size_t i = lines - 1; i > 0; --i) {
    // The high half of a product: uniform to 2^-64 i, without a division.
    const auto j =
        static_cast<std::size_t>((static_cast<Wide>(random()) * static_cast<Wide>(i)) >> 64);
    std::swap(link(&memory[i * line]), link(&memory[j * line]));
  }
}

void* follow_cycle(void* start, std::int64_t loads) {
  auto* at = static_cast<void**>(start);
  for (std::int64_t i = 0; i < loads; i += 16) {
#pragma GCC unroll 16
    for (int u = 0; u < 16; ++u) at = static_cast<void**>(*at);
  }
  return at;
}
}  // namespace scaleworth::probes::host
