// SPDX-License-Identifier: Apache-2.0
/// Which CPUs workers are pinned to: allowed ones only, whole cores before SMT siblings.
#pragma once

#include <span>
#include <vector>

namespace scaleworth::probes::host {

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
/// Throws ProbeFailure if the kernel does not tell the mask.
std::vector<int> worker_cpus();

}  // namespace scaleworth::probes::host
