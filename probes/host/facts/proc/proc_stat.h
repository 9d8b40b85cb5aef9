// SPDX-License-Identifier: Apache-2.0
/// Where the CPU time of the whole machine went since boot.
#pragma once

#include <optional>
#include <string_view>

namespace scaleworth::probes::host {

/// Seconds summed over all CPUs. `steal`: a CPU was ready to run, but the hypervisor ran others.
struct MachineTimes {
  double busy_s = 0.0;  // user, nice, system, irq, softirq; guests are part of user
  double idle_s = 0.0;  // idle, iowait
  double steal_s = 0.0;

  double total_s() const { return busy_s + idle_s + steal_s; }
};

/// The "cpu" line of /proc/stat (proc(5)) in ticks of 1 / `ticks_per_second` s. Kernels before
/// 2.6.11 have no steal column; it then counts as 0. Absent when the line or one of its first four
/// numbers is missing, malformed or negative.
std::optional<MachineTimes> parse_machine_times(std::string_view text, double ticks_per_second);

/// parse_machine_times of this machine.
std::optional<MachineTimes> read_machine_times();

}  // namespace scaleworth::probes::host
