// SPDX-License-Identifier: Apache-2.0
/// Starts ranks of this program on this node with the user's mpirun, when no launcher started us.
#pragma once

#include "src/core/outcome.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {

struct SelfLaunch {
  int ranks = 2;
  int usable_cores = 1;             // that this process may keep busy: affinity, quota
  std::string launcher = "mpirun";  // a name in PATH, or a path
  std::string program;              // path of the rank program
  std::vector<std::string> arguments;
  std::optional<std::chrono::milliseconds> timeout;
};

/// What decides about mpirun's options besides the job.
struct LaunchHost {
  bool root = false;
  bool affinity_restricted = false;   // fewer CPUs than are online
  bool memory_shared_by_copy = true;  // process_vm_readv is allowed (container profiles forbid it)
};
LaunchHost inspect_launch_host();

/// Absolute path of `name`; Skipped with the remedy when PATH has no such program.
Outcome<std::string> find_launcher(const std::string& name);

/// The command line, `launcher` being resolved already. One core per rank where each has one;
/// ranks yield when they outnumber the cores; no binding inside of a restricted affinity, because
/// mpirun counts cores that are not ours.
std::vector<std::string> launch_command(const SelfLaunch& job, const LaunchHost& host);

struct JobEnding {
  /// How it ended, in words; absent when every rank ended with success.
  std::optional<std::string> failure;
};

/// Runs the job and waits for its end; its stdout and stderr are ours. Our own SIGINT or SIGTERM
/// goes to all ranks, which get 10 s to finish. Throws UserError when there is no launcher.
JobEnding self_launch(const SelfLaunch& job);

}  // namespace scaleworth::probes::host
