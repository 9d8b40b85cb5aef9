// SPDX-License-Identifier: Apache-2.0
/// Reads the files that `scaleworth trace` writes.
#pragma once

#include "trace/classify/rules.h"
#include "trace/format/input/byte_source.h"
#include "trace/timeline/recording.h"

#include <vector>

namespace scaleworth::trace {

/// The recording of the file: a file is a process. Of a process that drives several GPUs, each of
/// them one rank of a communicator, one recording per GPU. What a killed process or a full disk left
/// unfinished, and what the capture lost, stands in losses and remarks. Throws UserError naming
/// file, position and remedy when it is no such file or of a newer version.
std::vector<Recording> read_recording(ByteSource& source);
/// As other readers are called; our files hold no operators that rules would choose from.
inline std::vector<Recording> read_recording(ByteSource& source, const RuleTable& /*rules*/) {
  return read_recording(source);
}

}  // namespace scaleworth::trace
