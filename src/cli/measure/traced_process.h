// SPDX-License-Identifier: Apache-2.0
/// Child with capture environment and forwarded signals.
#pragma once

#include "trace/capture_settings.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace scaleworth::cli {

/// What `scaleworth trace` is asked.
struct TraceOptions {
  std::string out;            // directory; empty: one named after the time
  std::string steps;          // "FROM:TO", empty for all
  std::string duration;       // seconds, empty for unlimited
  std::string capture_range;  // "cudaProfilerApi" or an NVTX range's name, empty for all
  std::string cupti_library;  // empty: searched by the capture library
  std::string library;        // the capture library; empty: beside the program
  bool dry_run = false;
  std::vector<std::string> command;
};

/// Runs `command` (found on PATH) with `variables` added to the environment and returns its exit
/// code, 128 + n for signal n. Signals sent to us go on to it. Throws UserError.
int run_child(const std::vector<std::string>& command, const trace::Variables& variables);

/// `named`, else as find_installed() finds it. Throws UserError with the way to get one.
std::filesystem::path find_capture_library(const std::string& named);

struct TracedEnvironment {
  trace::Variables variables;
  std::vector<std::string> warnings;  // what another tool's settings cost
};

/// `value` gives a variable of the environment, or null; `invocation` separates the files of this
/// run. Throws UserError for options that cannot be read.
TracedEnvironment traced_environment(const TraceOptions& options,
                                     const std::filesystem::path& directory,
                                     const std::filesystem::path& library,
                                     const std::string& invocation,
                                     const std::function<const char*(const char*)>& value);
}  // namespace scaleworth::cli
