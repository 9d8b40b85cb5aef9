// SPDX-License-Identifier: Apache-2.0
/// A team of threads, each pinned to a CPU of its own, that start a task together.
#pragma once

#include "src/core/units.h"

#include <functional>
#include <memory>

namespace scaleworth::probes::host {

/// One run of a task on all workers.
struct TeamTiming {
  Seconds wall;  // first worker's start to last worker's end, steady clock
  Seconds cpu;   // thread-CPU time of all workers together
};

/// Worker i always runs on the i-th CPU of `worker_cpus()`, so memory that it touched first stays
/// local to it in later teams too.
class WorkerTeam {
 public:
  /// Throws ProbeFailure if `workers` exceeds the allowed CPUs or a thread cannot be started or
  /// pinned.
  explicit WorkerTeam(int workers);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int size() const;
  /// Calls task(0) ... task(size - 1), one per worker, released together by a spinning gate, and
  /// waits for all. The first exception that a task throws is thrown again here.
  TeamTiming run(const std::function<void(int worker)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scaleworth::probes::host
