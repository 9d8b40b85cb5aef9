// SPDX-License-Identifier: Apache-2.0
#include "probes/host/memory/caches.h"
#include "probes/host/memory/cycle.h"
#include "probes/host/memory/memory.h"
#include "probes/host/workers/sampling.h"
#include "src/core/error.h"

#include <algorithm>

namespace scaleworth::probes::host {
namespace {

constexpr std::int64_t loads_per_unit = 64;
/// Beyond this, writing the cycle is warm-up enough: following it whole would take longer than the
/// samples, and most of it cannot be in a cache close by.
constexpr double followed_whole_bytes = 16 << 20;
constexpr std::uint64_t cycle_seed = 20;

}  // namespace

Measured time_latency(const LatencyWork& work, const Target& target, ArrayPool& pool) {
  const auto line = static_cast<std::size_t>(read_cache_sizes().line_bytes.value_or(64));
  const auto lines =
      std::max<std::size_t>(2, static_cast<std::size_t>(work.working_set.value()) / line);
  WorkerTeam team(1);
  pool.reserve(team, 0, lines * line);
  pool.target_content(0) = {};
  auto* memory = static_cast<std::byte*>(pool.target(0));
  void* at = memory;
  void* sample_start = memory;
  team.run([&](int) {
    write_cycle({memory, lines * line}, line, cycle_seed);
    if (static_cast<double>(lines * line) <= followed_whole_bytes) {
      at = follow_cycle(at, static_cast<std::int64_t>((lines + 15) / 16 * 16));
    }
  });

  const UnitWork loads{1.0 / static_cast<double>(loads_per_unit), [&](int, std::int64_t units) {
                         sample_start = at;
                         at = follow_cycle(at, units * loads_per_unit);
                       }};
  Measured measured;
  std::int64_t last_units = 0;
  measured.samples = take_samples(team, loads, target, &last_units);

  void* expected = sample_start;
  for (std::int64_t i = 0; i < last_units * loads_per_unit; ++i) {
    expected = *static_cast<void**>(expected);
  }
  if (at != expected) {
    throw ProbeFailure(
        "memory latency: the chain of loads ended at the wrong line: the kernel or the memory is "
        "broken");
  }
  measured.bytes = Bytes(static_cast<double>(line));
  measured.bytes_real = measured.bytes;
  return measured;
}

Measured time_latency(const LatencyWork& work, const Target& target) {
  ArrayPool pool;
  return time_latency(work, target, pool);
}

}  // namespace scaleworth::probes::host
