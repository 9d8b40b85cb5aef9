// SPDX-License-Identifier: Apache-2.0
/// From batches of rows to the bytes of a recording file, and back.
#pragma once

#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/recording.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace scaleworth::trace::recording {
/// Rows in one frame: few enough that a torn frame loses little.
inline constexpr std::size_t rows_per_frame = 65536;

/// Appends the frames of `batch` to `out`: names and shapes before the rows that use them.
void append_batch(const Batch& batch, std::string& out);

/// Appends the frame that says that the process ended its recording itself.
void append_end(std::string& out);

/// Numbers the names of a file in the order of their first use; 0 is the empty name.
class NameIndex {
 public:
  /// The number of `name`; a new name goes to `batch` as well.
  std::uint32_t intern(std::string_view name, Batch& batch) {
    const std::size_t known = names_.size();
    const NameId id = names_.intern(name);
    if (names_.size() > known) batch.names.emplace_back(name);
    return static_cast<std::uint32_t>(id);
  }

 private:
  NameTable names_;
};

/// Appends to `batch` what the frame says. False for a malformed one, which adds nothing; absent
/// for kinds that this program does not know.
std::optional<bool> decode_frame(FrameKind kind, std::string_view payload, Batch& batch);
}  // namespace scaleworth::trace::recording
