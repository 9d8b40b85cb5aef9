// SPDX-License-Identifier: Apache-2.0
/// Events that overlap, laid beside each other so that every lane nests.
#pragma once

#include "trace/analysis/intervals.h"

#include <cstdint>
#include <vector>

namespace scaleworth::trace {

enum class Nesting : std::uint8_t {
  inside_allowed,  // a call inside a call
  none,            // work on a GPU: kernels that overlap run beside each other
};

/// The lane of each event, from 0; events come by start, longest first. Events that find no room in
/// `most_lanes` have that number.
std::vector<std::uint32_t> assign_lanes(const std::vector<TimeInterval>& events, Nesting nesting);

inline constexpr std::uint32_t most_lanes = 64;

}  // namespace scaleworth::trace
