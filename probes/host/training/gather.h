// SPDX-License-Identifier: Apache-2.0
/// Brings the spans of all ranks to rank 0, on one clock.
#pragma once

#include "probes/host/mpi/module.h"
#include "probes/host/training/clock_offset.h"
#include "probes/host/training/span_recorder.h"

#include <string>
#include <vector>

namespace scaleworth::probes::host {

/// How this group's clocks were made one.
struct CommonClock {
  ClockOffset own;
  std::string method;
};

/// One host has one monotonic clock: no offset, no error. On several, offsets are measured.
CommonClock measure_common_clock(const MpiModule& mpi, MpiGroup group);
/// Before and after a measurement: the mean offset; the error covers both and the drift between.
CommonClock combine(const CommonClock& before, const CommonClock& after);

/// All ranks' spans on rank 0, an empty timeline elsewhere. Ranks must have interned the same
/// names.
Timeline gather_timeline(const MpiModule& mpi,
                         MpiGroup group,
                         const SpanRecorder& recorder,
                         const CommonClock& clock);

/// `warnings` gains a line on rank 0 if ranks hold different `fingerprint`s or dropped spans.
void compare_ranks(const MpiModule& mpi,
                   MpiGroup group,
                   std::uint64_t fingerprint,
                   std::size_t dropped,
                   std::vector<std::string>& warnings);

}  // namespace scaleworth::probes::host
