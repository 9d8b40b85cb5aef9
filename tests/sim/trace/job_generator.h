// SPDX-License-Identifier: Apache-2.0
/// Training jobs whose recordings are known to the last event: who is late, why, and what every
/// clock says.
#pragma once

#include "src/core/attribution.h"
#include "trace/recording.h"

#include <cstdint>
#include <vector>

namespace scaleworth::sim {

struct JobTruth {
  int ranks = 8;
  int steps = 8;
  int layers = 3;
  std::uint64_t seed = 1;
  double kernel_noise = 0.01;  // relative sigma of every kernel's duration

  LateCause cause = LateCause::undecided;  // undecided: nobody is late
  int straggler = 0;
  /// Another rank is the straggler in every step: (straggler + step) mod ranks.
  bool rotating = false;
  double late_ns = 0.0;       // per step
  double transfer_ns = 50e3;  // of an all-reduce, when everybody has come

  /// Every layer also has a collective of the pairs {0, 1}, {2, 3}, ..., after which even ranks
  /// compute 60 us longer, so that they come last.
  bool pairs = false;
  double pair_extra_ns = 60e3;

  /// All-reduces on a stream of their own under the next layers' kernels; the optimizer waits for
  /// the last one.
  bool overlapped = false;

  double clock_offset_ns = 0.0;  // sigma of the ranks' offsets
  double clock_drift = 0.0;      // sigma of the ranks' drifts
  double end_skew_ns = 1500.0;   // sigma of how ends of a collective differ
  double lost_share = 0.0;       // of device events, dropped at random
};

inline constexpr double pause_ns = 1e3;  // between kernels of a stream
inline constexpr std::uint32_t compute_stream = 7;

/// What the recordings' times mean.
struct ClockOfRank {
  double offset_ns = 0.0;
  double drift = 0.0;
  std::chrono::nanoseconds recorded(double true_ns) const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(offset_ns + true_ns * (1.0 + drift)));
  }
};

struct GeneratedJob {
  trace::Job job;
  std::vector<ClockOfRank> clocks;
  double length_ns = 0.0;
};

/// Steps of copies, layers of kernels with an all-reduce behind each, by default on the same
/// stream, and an optimizer; the host launches ahead and synchronizes at the end of each step.
/// Events are classified already.
GeneratedJob generate_job(const JobTruth& truth);

}  // namespace scaleworth::sim
