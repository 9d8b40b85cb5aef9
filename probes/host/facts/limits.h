// SPDX-License-Identifier: Apache-2.0
/// What this process may use of the node: CPUs and memory, each with the limit that binds.
#pragma once

#include "probes/host/facts/proc/cgroup.h"
#include "probes/host/facts/proc/memory_info.h"
#include "probes/host/facts/topology.h"
#include "src/core/units.h"

#include <optional>
#include <string>

namespace scaleworth::probes::host {

/// Logical CPUs in the affinity mask (set by taskset, cpusets, batch systems); absent if the kernel
/// does not tell.
std::optional<int> affinity_cpus();

/// Workers that can compute at once.
struct WorkerLimit {
  int workers = 1;
  std::string reason;  // "2 cores in the affinity mask", "CPU quota of 1.5 CPUs (file)"
};

/// The least of the cores that the affinity mask touches (SMT siblings share one core's units and
/// count once; logical CPUs where cores are unknown) and the CPU quota rounded down, at least 1.
WorkerLimit worker_limit(const Outcome<Topology>& topology,
                         const std::optional<int>& affinity,
                         const Limit<double>& quota);

/// Memory that this process may still allocate: the least of what the kernel calls available, what
/// control groups leave, and what RLIMIT_AS and RLIMIT_DATA leave. The source names the one that
/// binds; no value where none of them can be read.
Limit<Bytes> memory_left(const MemoryInfo& memory,
                         const Limit<Bytes>& cgroup_remaining,
                         const std::optional<Bytes>& address_space);

/// worker_limit and memory_left of this process, read now.
WorkerLimit current_worker_limit();
Limit<Bytes> current_memory_left();

}  // namespace scaleworth::probes::host
