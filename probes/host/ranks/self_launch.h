// SPDX-License-Identifier: Apache-2.0
/// Starts ranks of this program on this node with the user's mpirun, when no launcher started us.
#pragma once

#include "src/core/finding.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {
struct SelfLaunch {
  int ranks = 2;
  int usable_cores = 1;             // that this process may keep busy: affinity, quota
  std::string launcher = "mpirun";  // a name in PATH, or a path
  bool open_mpi = true;             // its options are then Open MPI's; none are given otherwise
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

/// Runs the job and waits for its end: absent when every rank ended with success, else how it ended
/// ("rank 1 was killed by signal 9 (Killed)"); its stdout and stderr are ours. Our own SIGINT or
/// SIGTERM goes to all ranks, which get 10 s to finish. Throws UserError when there is no launcher.
std::optional<Finding> self_launch(const SelfLaunch& job);

struct ChildOptions {
  std::optional<std::chrono::milliseconds> timeout;
  /// What it is asked to end with, after a signal of ours or the timeout; SIGTERM follows after
  /// `grace`, SIGKILL to its whole group after another one.
  int end_signal = SIGTERM;
  // Ranks write down what they measured meanwhile; presumed.
  std::chrono::milliseconds grace{10'000};
  /// Receives what it writes on stderr, piece by piece.
  std::function<void(std::string_view)> on_stderr;
};

struct ChildEnding {
  int exit_code = 0;  // meaningless when `signal` is not 0
  int signal = 0;     // that killed it, 0 for none
  int forwarded = 0;  // signal of ours that it was ended for, 0 for none
  bool timed_out = false;
};

/// Runs `command` (absolute path first) in a process group of its own, so that Ctrl-C at the
/// terminal reaches it through us once and not twice; stdin is empty, stdout is ours. It gets
/// SIGTERM when we die. Throws ProbeFailure when it cannot be started.
ChildEnding run_child(const std::vector<std::string>& command, const ChildOptions& options);
}  // namespace scaleworth::probes::host
