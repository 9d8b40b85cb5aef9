// SPDX-License-Identifier: Apache-2.0
/// How a job of ranks ended, in words.
#pragma once

#include "probes/host/ranks/child_process.h"

#include <optional>
#include <string>
#include <string_view>

namespace scaleworth::probes::host {

/// mpirun's stderr: goes on to ours, and is read for the rank that it names as lost.
class LaunchErrors {
 public:
  void pass_on(std::string_view text);
  /// Of Open MPI's lines "mpirun noticed that process rank 1 with PID 7 on node n exited on signal
  /// 9" and "Process name: [[20312,1],1]"; absent when it wrote none.
  std::optional<int> lost_rank() const { return lost_rank_; }

 private:
  std::string line_;
  std::optional<int> lost_rank_;
};

/// Absent for success; else "rank 1 was killed by signal 9 (Killed)", "the ranks ended with exit
/// code 3", ... mpirun ends with 128 + signal when a signal killed a rank.
std::optional<std::string> describe_failure(const ChildEnding& ending,
                                            std::optional<int> lost_rank);

}  // namespace scaleworth::probes::host
