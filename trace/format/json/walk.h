// SPDX-License-Identifier: Apache-2.0
/// Walks a file in Chrome's trace format event by event, in bounded memory, whatever its size and
/// past damage.
#pragma once

#include "trace/format/input/byte_source.h"
#include "trace/timeline/recording.h"

#include <string>
#include <string_view>

#include <simdjson.h>

namespace scaleworth::trace {

/// What a reader does with the parts of the file.
class TraceReader {
 public:
  enum class Use : std::uint8_t {
    passed_over,  // nothing was kept of the event, and not all of it need have been looked at
    kept,         // all of it was looked at, and something of it kept
    malformed,    // nothing was kept, because simdjson met an error in it
  };
  virtual ~TraceReader() = default;
  /// One event. What is read of it is valid until the return.
  virtual Use event(simdjson::ondemand::object& event) = 0;
  /// A member of the object around the events, as JSON text; unless it is cut off, or larger than
  /// 16 MiB.
  virtual void member(std::string_view key, std::string_view json) = 0;
};

struct WalkOptions {
  std::size_t batch_bytes = std::size_t{1} << 18;   // parsed at once
  std::size_t window_bytes = std::size_t{1} << 20;  // in memory
  std::size_t most_bytes = std::size_t{256} << 20;  // in memory for one event that is so large
};

/// Hands the events and members of `source` to `reader`, and says in `losses` and `remarks` of
/// `recording` what was damaged. Throws UserError when the file is no such trace at all.
void walk_trace(ByteSource& source,
                TraceReader& reader,
                Recording& recording,
                const WalkOptions& options = {});

}  // namespace scaleworth::trace
