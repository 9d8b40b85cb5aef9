// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C and SIGTERM as a flag that measurement loops poll between samples.
#pragma once

#include <stdexcept>

namespace scaleworth {

/// Thrown by `check_interrupt`; whoever records results keeps what was measured and says so.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// From now on the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 only sets the flag; a second one ends
/// the process at once. SIGUSR1 is what mpirun passes on to its ranks, and what Slurm's --signal is
/// commonly told to send before a time limit. A file size limit (ulimit -f) becomes an error of the
/// write that meets it.
void install_interrupt_handlers();

/// The signal received so far, 0 for none.
int interrupt_signal();

/// Throws Interrupted if a signal has arrived. Call between samples, never inside a timed region.
void check_interrupt();

}  // namespace scaleworth
