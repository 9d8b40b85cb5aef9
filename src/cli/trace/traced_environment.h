// SPDX-License-Identifier: Apache-2.0
/// Which variables make a program record itself.
#pragma once

#include "src/cli/trace/trace.h"
#include "trace/capture/settings.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// Where the capture library may lie for a program of ours at `program`: beside it and in
/// lib/scaleworth of the folders above, best first.
std::vector<std::filesystem::path> capture_library_candidates(const std::filesystem::path& program);

/// The capture library: `named`, else the first candidate that is there. Throws UserError with the
/// way to get one.
std::filesystem::path find_capture_library(const std::string& named);

struct TracedEnvironment {
  trace::Variables variables;
  std::vector<std::string> warnings;  // what another tool's settings cost
};

/// `value` gives a variable of the present environment, or null. `invocation` tells apart the files
/// of this run of the command. Throws UserError for options that say nothing.
TracedEnvironment traced_environment(const TraceOptions& options,
                                     const std::filesystem::path& directory,
                                     const std::filesystem::path& library,
                                     const std::string& invocation,
                                     const std::function<const char*(const char*)>& value);

}  // namespace scaleworth::cli
