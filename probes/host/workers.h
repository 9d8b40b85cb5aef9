// SPDX-License-Identifier: Apache-2.0
/// Pinned threads that start together; work -> samples.
#pragma once

#include "probes/machine.h"
#include "src/core/non_copyable.h"
#include "src/core/units.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sched.h>
#include <time.h>

namespace scaleworth::probes::host {
// Which CPUs workers are pinned to: allowed ones only, whole cores before SMT siblings.

/// One logical CPU and the physical core it belongs to.
struct CpuPlace {
  int cpu = 0;
  int package = 0;
  int core = 0;  // unique within its package
};

/// The CPU numbers in the order in which workers take them: the first thread of each core in the
/// given order, then the second threads, and so on.
std::vector<int> worker_order(std::span<const CpuPlace> places);

/// CPUs that this process may run on (affinity mask, which cpusets and taskset set), in
/// `worker_order`. Cores are read from sysfs; where that is absent each CPU counts as a core.
/// Throws ProbeFailure if the kernel does not report the mask.
std::vector<int> worker_cpus();

/// One run of a task on all workers.
struct TeamTiming {
  Seconds wall;  // first worker's start to last worker's end, steady clock
  Seconds cpu;   // thread-CPU time of all workers together
};

/// Worker i always runs on the i-th CPU of `worker_cpus()`, so memory that it touched first stays
/// local to it in later teams too.
class WorkerTeam : NonCopyable {
 public:
  /// Throws ProbeFailure if `workers` exceeds the allowed CPUs or a thread cannot be started or
  /// pinned.
  explicit WorkerTeam(int workers);
  ~WorkerTeam();

  int size() const;
  /// Calls task(0) ... task(size - 1), one per worker, released together by a spinning gate, and
  /// waits for all. The first exception that a task throws is thrown again here.
  TeamTiming run(const std::function<void(int worker)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Work made of equal units; `run(worker, units)` does that many of them on one worker. An
/// operation (what a sample is divided by) is `units_per_operation` units: below one where a unit
/// holds several operations, above one where an operation is too long for one sample.
struct UnitWork {
  double units_per_operation = 1.0;
  std::function<void(int worker, std::int64_t units)> run;
};

/// How long one sample should last so that at least `minimum_samples` fit 70 % of the budget:
/// within [1 ms, 20 ms], and never below 100 times the clock's resolution.
Seconds sample_duration(const Target& target);

/// Seconds of CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, ...
double clock_seconds(clockid_t clock);

/// How many CPUs the operation kept busy: median of CPU time / wall time. Absent for no samples.
std::optional<double> cpus_used(const Samples& samples);

/// Calls `run`, which holds so many operations, until the target is met. Throws Interrupted in
/// between.
Samples collect_samples(const Target& target,
                        double operations,
                        const std::function<TeamTiming()>& run);

/// Finds the units that fill one sample (those runs warm up), then samples until the target is met.
/// Warnings: thread-CPU time below 98 % of workers x wall time (contention), drift, two modes.
/// `last_units`, where given, receives the units of the last sample.
/// Throws Interrupted between samples.
Samples take_samples(WorkerTeam& team,
                     const UnitWork& work,
                     const Target& target,
                     std::int64_t* last_units = nullptr);

/// Widens the calling thread's affinity mask to every CPU of its cpuset (threads created meanwhile
/// inherit that) and restores the former mask at the end. Where the kernel refuses, nothing
/// changes.
class WideAffinity : NonCopyable {
 public:
  WideAffinity();
  ~WideAffinity();

 private:
  cpu_set_t former_{};
  bool widened_ = false;
};
}  // namespace scaleworth::probes::host
