// SPDX-License-Identifier: Apache-2.0
/// First guess of the clocks: how far each rank's lies from the others', and which ranks can be
/// compared at all.
#pragma once

#include "trace/analysis/clocks/meetings.h"
#include "trace/timeline/recording.h"

#include <cstdint>
#include <vector>

namespace scaleworth::trace {

/// What ties a rank's clock to those placed before it.
enum class ClockTie : std::uint8_t {
  reference,  // the first of its component
  meetings,   // ends of collectives
  messages,   // only messages in both directions: between the bounds, with half their distance
  one_clock,  // the same host: taken as the same clock
};

struct Placement {
  std::vector<nanoseconds> offsets;      // by rank, to the clock of the component's first
  std::vector<std::uint32_t> component;  // by rank; ranks of one can be compared
  std::vector<ClockTie> ties;            // by rank
  std::vector<nanoseconds> half_widths;  // by rank; of messages only
  std::uint32_t components = 0;
};

/// Whether all recordings are one framework's timeline, which has one clock by construction.
bool one_timeline(const Job& job);

Placement place_clocks(const Job& job, const Meetings& meetings);

}  // namespace scaleworth::trace
