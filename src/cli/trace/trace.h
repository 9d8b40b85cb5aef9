// SPDX-License-Identifier: Apache-2.0
/// `scaleworth trace`: runs a program with the capture library in it and its children.
#pragma once

#include <string>
#include <vector>

namespace scaleworth::cli {

struct TraceOptions {
  std::string out;            // directory; empty: one named after the time
  std::string steps;          // "FROM:TO", empty for all
  std::string duration;       // seconds, empty for unlimited
  std::string capture_range;  // "cudaProfilerApi" or an NVTX range's name, empty for all
  std::string cupti_library;  // empty: searched by the capture library
  std::string library;        // the capture library; empty: beside the program
  bool nccl_channels = false;
  bool dry_run = false;
  std::vector<std::string> command;
};

/// Runs the command and returns its exit code, 128 + n when signal n ended it. When it succeeded
/// but nothing was recorded: exit_failed, with the reason on stderr. Throws UserError for options
/// that say nothing and for a command that cannot be run.
int trace_program(const TraceOptions& options);

}  // namespace scaleworth::cli
