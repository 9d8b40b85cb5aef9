// SPDX-License-Identifier: Apache-2.0
/// What the preparation of a setting costs, for estimates only. Round figures between a laptop and
/// a server; measured on virtual machines of 2 vCPUs in 2026.
#pragma once

#include "src/core/units.h"

#include <algorithm>

namespace scaleworth::probes {

/// Rates grow with workers until memory saturates, at about 8.
constexpr double effective_workers(int workers) {
  return static_cast<double>(std::min(workers, 8));
}

/// Writing fresh pages.
constexpr BytesPerSecond first_touch_rate(int workers) {
  return BytesPerSecond(2.5e9 * effective_workers(workers));
}

/// Streaming through memory.
constexpr BytesPerSecond sweep_rate(int workers) {
  return BytesPerSecond(10e9 * effective_workers(workers));
}

/// Writing a random cycle: beyond the caches each line of 64 bytes costs part of a miss.
constexpr BytesPerSecond cycle_write_rate() {
  return BytesPerSecond(64.0 / 40e-9);
}

}  // namespace scaleworth::probes
