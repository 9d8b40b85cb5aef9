// SPDX-License-Identifier: Apache-2.0
/// A program that we start, wait for without hanging, and always reap.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {

struct ChildOptions {
  std::optional<std::chrono::milliseconds> timeout;
  /// What it is asked to end with, after a signal of ours or the timeout; SIGTERM follows after
  /// `grace`, SIGKILL to its whole group after another one.
  int end_signal = SIGTERM;
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
