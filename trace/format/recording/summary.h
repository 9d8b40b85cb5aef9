// SPDX-License-Identifier: Apache-2.0
/// What is in a recording file, counted without reading its rows.
#pragma once

#include "trace/format/input/byte_source.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace scaleworth::trace {

struct RecordingSummary {
  std::map<std::string, std::string> facts;
  std::vector<std::string> remarks;
  std::uint64_t device_events = 0;  // kernels, copies and fills
  std::uint64_t other_events = 0;   // calls, waits, ends of ranges, collectives
  std::uint64_t lost = 0;           // records that the tracer or this program dropped
  bool ended = false;               // by the process itself
};

/// Throws UserError when it is no recording of ours.
RecordingSummary summarise_recording(ByteSource& source);

}  // namespace scaleworth::trace
