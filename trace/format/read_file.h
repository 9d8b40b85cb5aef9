// SPDX-License-Identifier: Apache-2.0
/// One file, whatever its format, as recordings.
#pragma once

#include "trace/classify/rules.h"
#include "trace/timeline/recording.h"

#include <string>
#include <vector>

namespace scaleworth::trace {

struct FileContent {
  std::vector<Recording> recordings;
  std::vector<std::string> left_out;  // members of an archive, each with the reason
  bool foreign = false;               // no recording and no archive: `left_out` says so
};

/// Tells the format by the content: ours, Chrome JSON of PyTorch or a framework, SQLite of Nsight
/// Systems, and tar archives of these; each plain or compressed by gzip or zstd. Throws UserError
/// when a file of a known format cannot be read.
FileContent read_file(const std::string& path, const RuleTable& rules);

}  // namespace scaleworth::trace
