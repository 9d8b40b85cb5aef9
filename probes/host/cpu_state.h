// SPDX-License-Identifier: Apache-2.0
/// The clock of the CPUs and the load of other processes during a run; CPUID.
#pragma once

#include "probes/host/proc_files.h"
#include "src/core/run.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {
/// Facts base_frequency_hz, maximum_frequency_hz and frequency_basis. The base is, in this order:
/// `cpufreq`/base_frequency (kHz; Intel's driver), the median "cpu MHz" of /proc/cpuinfo (on a
/// virtual machine the nominal clock, else the clock of the moment). The maximum is cpufreq's
/// cpuinfo_max_freq; neither is the clock at which vector code runs, which only a measurement
/// shows.
std::vector<Fact> frequency_facts(
    const CpuInfo& cpu, const std::string& cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq");

/// CPU time of the machine and of this program at one moment.
struct LoadReading {
  std::optional<MachineTimes> machine;
  double own_s = 0.0;  // this process and the children that it has waited for
  /// Of the control group's CPU quota, as CgroupLimits.
  std::int64_t periods = 0;
  std::int64_t throttled = 0;
};
LoadReading read_load();

/// Facts about the time between two readings, fractions of all CPUs' time:
///   cpu_busy_fraction      any program ran
///   own_cpu_fraction       this program ran
///   other_cpu_fraction     busy less own: other programs, kernel threads and interrupts
///   steal_fraction         the hypervisor gave the CPU to others
///   watched_cpu_seconds    CPUs x elapsed time, the denominator
///   throttled_fraction     under a CPU quota only: of its periods, those in which it stopped us
/// `more_own_s` is CPU time of our processes that the readings do not know: of the other ranks on
/// this node, which a launcher started; absent where they did not report it. Absent with the
/// reason then, below 1 CPU-second (ticks are 10 ms) or without /proc/stat.
std::vector<Fact> load_facts(const LoadReading& start,
                             const LoadReading& end,
                             std::optional<double> more_own_s);

/// Reads at construction; `facts()` reads again and gives the facts about the time since.
class LoadWatch {
 public:
  LoadWatch() : start_(read_load()) {}
  FactSection facts(std::optional<double> more_own_s) const;
  /// CPU time of this process, and of the children that it has waited for, since.
  double own_s() const { return read_load().own_s - start_.own_s; }

 private:
  LoadReading start_;
};
}  // namespace scaleworth::probes::host
