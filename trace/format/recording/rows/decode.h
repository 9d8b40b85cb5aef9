// SPDX-License-Identifier: Apache-2.0
/// From the frames of a recording file back to batches of rows.
#pragma once

#include "trace/format/recording/bytes/frame.h"
#include "trace/format/recording/rows/rows.h"

namespace scaleworth::trace::recording {

enum class Decoded { whole, unknown_kind, malformed };

/// Appends to `batch` what the frame says. A malformed one adds nothing.
Decoded decode_frame(FrameKind kind, std::string_view payload, Batch& batch);

}  // namespace scaleworth::trace::recording
