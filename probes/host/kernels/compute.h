// SPDX-License-Identifier: Apache-2.0
/// The host's answer to "how fast can you compute?".
#pragma once

#include "probes/host/kernels/memory.h"
#include "probes/machine.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
/// Instruction sets with a kernel in this build that this CPU and its operating system can run,
/// narrowest first: "sse2", "avx2", "avx512" on x86-64, "neon" on 64-bit Arm.
std::vector<std::string> host_isas();

/// Independent chains x <- x a + b in registers, none touching memory while timed. One operation is
/// a fixed number of FLOPs on each worker; an FMA counts as two, as do the separate multiply and
/// add of "sse2", which has no FMA. The result of every chain of every repetition is compared bit
/// by bit with a scalar reference, so each counted FLOP was retired.
/// Throws ProbeFailure for an unknown or unsupported isa, too many workers, or a wrong result.
Measured time_fma(const FmaWork& work, const Target& target);

// The table of compute kernels, one entry per instruction set, filled by files that are compiled
// for that set alone.

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
};

struct ComputeIsa {
  const char* name = nullptr;
  bool fused = true;  // one rounding per multiply-add; false: two instructions, two roundings
  ComputeKernels<float> fp32;
  ComputeKernels<double> fp64;
};

/// Those that this CPU and its operating system can run, narrowest first; one to three entries.
std::span<const ComputeIsa> compute_isas();

// The entries of the compute table; each is defined in the file compiled for its instruction set
// and may be called only on CPUs that have it.

ComputeIsa compute_sse2();
ComputeIsa compute_avx2();
ComputeIsa compute_avx512();
ComputeIsa compute_neon();

/// Start values repeat after this many elements: a prime, so that no register repeats another.
inline constexpr std::int64_t start_period = 61;

/// Start value of element `index`: one of `start_period` values spread over [0.5, 1.5].
template <class T>
T start_value(std::int64_t index);

/// `count` elements after `steps` applications of the recurrence to start_value(0 ... count - 1),
/// with one rounding per step if `fused`, else two. Exact: kernels must agree bit by bit.
template <class T>
std::vector<T> reference_chains(std::int64_t count, std::int64_t steps, bool fused);

/// start_value(index) after `steps` applications.
template <class T>
T reference_value(std::int64_t index, std::int64_t steps, bool fused);

/// Throws ProbeFailure naming the first element that differs in any bit (a NaN never agrees).
/// `what` names the kernel.
template <class T>
void require_equal(std::span<const T> result, std::span<const T> reference, const char* what);
}  // namespace scaleworth::probes::host
