// SPDX-License-Identifier: Apache-2.0
/// Who else used this machine while a run measured: the difference between a slow host and a busy
/// one.
#pragma once

#include "probes/host/facts/proc/proc_stat.h"
#include "src/core/run/record.h"

#include <optional>
#include <vector>

namespace scaleworth::probes::host {

/// CPU time of the machine and of this program at one moment.
struct LoadReading {
  std::optional<MachineTimes> machine;
  double own_s = 0.0;  // this process and the children that it has waited for
};
LoadReading read_load();

/// Facts about the time between two readings, fractions of all CPUs' time:
///   cpu_busy_fraction      any program ran
///   own_cpu_fraction       this program ran
///   other_cpu_fraction     busy less own: other programs, kernel threads and interrupts
///   steal_fraction         the hypervisor gave the CPU to others
///   watched_cpu_seconds    CPUs x elapsed time, the denominator
/// `more_own_s` is CPU time of our processes that the readings do not know (ranks started by
/// someone else). Absent with the reason below 1 CPU-second (ticks are 10 ms) or without
/// /proc/stat.
std::vector<Fact> load_facts(const LoadReading& start, const LoadReading& end, double more_own_s);

/// Reads at construction; `facts()` reads again and gives the facts about the time since.
class LoadWatch {
 public:
  LoadWatch() : start_(read_load()) {}
  FactSection facts(double more_own_s = 0.0) const;

 private:
  LoadReading start_;
};

}  // namespace scaleworth::probes::host
