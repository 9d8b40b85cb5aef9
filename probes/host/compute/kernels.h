// SPDX-License-Identifier: Apache-2.0
/// The table of compute kernels, one entry per instruction set, filled by files that are compiled
/// for that set alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace scaleworth::probes::host {

/// The recurrence that every kernel applies: x <- x a + b with a = -(1 - 2^-21), b = 2 - 2^-21.
/// It swings x around the fixed point 1 and approaches it so slowly that values stay in
/// [0.5, 1.5], differ between lanes and never become constant, denormal or infinite. Both
/// constants are exact in fp32.
template <class T>
struct Recurrence {
  static constexpr T a = T(-(1.0 - 1.0 / (1 << 21)));
  static constexpr T b = T(2.0 - 1.0 / (1 << 21));
};

/// Kernels of one instruction set and precision. `block` elements are held in registers at once:
/// chains x lanes.
template <class T>
struct ComputeKernels {
  std::int64_t block = 0;
  /// Loads `block` elements of `start`, applies the recurrence `steps` times (a multiple of 4) to
  /// each, stores them to `result`. Both are 64-byte aligned.
  void (*chains)(const T* start, T* result, std::int64_t steps) = nullptr;
  /// Applies the recurrence `steps` times to each of `elements` (a multiple of `block`) in place.
  void (*update)(T* data, std::int64_t elements, int steps) = nullptr;
};

struct ComputeIsa {
  const char* name = nullptr;
  bool fused = true;  // one rounding per multiply-add; false: two instructions, two roundings
  ComputeKernels<float> fp32;
  ComputeKernels<double> fp64;
};

/// Those that this CPU and its operating system can run, narrowest first; one to three entries.
std::span<const ComputeIsa> compute_isas();

}  // namespace scaleworth::probes::host
