// SPDX-License-Identifier: Apache-2.0
/// What this node is, before anything is measured; its CPUs as a machine that probes can ask.
#pragma once

#include "probes/host/cpu_state.h"
#include "probes/host/proc_files.h"
#include "probes/machine.h"
#include "src/core/estimate.h"
#include "src/core/run.h"
#include "src/core/units.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {
/// Sections cpu, memory, limits, virtualisation, software and network, each fact with its source or
/// the reason for its absence. Never throws for a fact that cannot be had.
std::vector<FactSection> host_facts();

/// The rates that interfaces to other nodes state, InfiniBand's in the driver's words: "eth0 25
/// Gbit/s at NUMA node 1, tun0 0.01 Gbit/s (virtual), mlx5_0 200 Gb/sec (4X HDR)"; empty for none.
std::string network_rates(const std::string& folder = "/sys/class");

/// OpenBLAS is opened at the first question that needs it; it is searched for where `blas_path` is
/// empty. Who used the CPUs during a run is in LoadWatch (cpu_state.h).
std::unique_ptr<Machine> open_host_machine(const std::string& blas_path);

struct Cache {
  int level = 1;
  std::string kind;  // "data", "unified"
  Bytes size;
  std::optional<int> line_bytes;
  int shared_by_cpus = 1;  // logical CPUs below one of them
  int count = 1;           // of this size and sharing on the machine
};

struct Topology {
  int sockets = 0;  // counts of 0: hwloc does not see objects of this kind here
  int cores = 0;
  int logical_cpus = 0;
  int numa_nodes = 0;
  /// Cores with at least one logical CPU in this process's affinity mask.
  int usable_cores = 0;
  std::vector<Cache> caches;  // by level
};

/// Skipped when hwloc cannot look (no /sys, no memory).
Outcome<Topology> read_topology();

/// The first of the highest level; absent when there is none.
std::optional<Cache> last_data_cache(const std::vector<Cache>& caches);

// Limits that a container or a batch system sets by control groups, version 2 and 1.

/// One limit: the value, and the file that it comes from; or no value, and why there is none.
template <class T>
struct Limit {
  std::optional<T> value;
  std::string source;
};

/// CPUs by "max 100000" or "150000 100000" (cgroup v2 cpu.max, microseconds of CPU time per
/// period), infinity for none; absent when malformed.
std::optional<double> parse_cpu_max(std::string_view text);
/// The same by cpu.cfs_quota_us (-1: unlimited) and cpu.cfs_period_us of cgroup v1.
std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period);
/// "max" or a byte count; 2^60 and more is how v1 spells unlimited, which is infinity. Absent when
/// malformed.
std::optional<Bytes> parse_memory_limit(std::string_view text);

/// Groups of this process: "hierarchy-ID:controllers:path" lines of /proc/self/cgroup (cgroups(7)).
/// Version 2 has the empty controller name. Malformed lines are passed over.
struct CgroupMembership {
  std::string controllers;  // "cpu,cpuacct"
  std::string path;         // "/user.slice"
};
std::vector<CgroupMembership> parse_cgroup_membership(std::string_view text);

struct CgroupLimits {
  Limit<double> cpus;             // the tightest quota of the group and its ancestors
  Limit<Bytes> memory;            // the tightest limit
  Limit<Bytes> memory_remaining;  // least of limit - (usage - inactive file cache, reclaimable)
  /// Of the tightest quota, since its group exists: periods in which some thread wanted to run, and
  /// those in which the quota stopped it.
  std::int64_t cpu_periods = 0;
  std::int64_t throttled_periods = 0;
};

/// The text of /proc/self/cgroup; empty where there is none.
std::string own_cgroups();
/// Reads the groups named by `membership` (a text of that form) below `mount`, walking up
/// to the mount's root: every ancestor's limit holds. A path that the mount does not have (a
/// container that sees only its own group) is passed over, its ancestors are still read.
CgroupLimits read_cgroup_limits(std::string_view membership,
                                const std::string& mount = "/sys/fs/cgroup");

/// Logical CPUs in the affinity mask (set by taskset, cpusets, batch systems); absent if the kernel
/// does not report it.
std::optional<int> affinity_cpus();

/// Workers that can compute at once, and why: "2 cores in the affinity mask".
struct WorkerLimit {
  int workers = 1;
  std::string reason;
};

/// The least of the cores that the affinity mask touches (SMT siblings share one core's units and
/// count once; logical CPUs where cores are unknown) and the CPU quota rounded down, at least 1.
WorkerLimit worker_limit(const Outcome<Topology>& topology,
                         const std::optional<int>& affinity,
                         const Limit<double>& quota);

/// Memory that this process may still allocate: the least of what the kernel calls available, what
/// control groups leave, and what RLIMIT_AS and RLIMIT_DATA leave. The source names the one that
/// binds; no value where none of them can be read.
Limit<Bytes> memory_left(const std::optional<Bytes>& available,
                         const Limit<Bytes>& cgroup_remaining,
                         const std::optional<Bytes>& address_space);

/// worker_limit and memory_left of this process, read now.
WorkerLimit current_worker_limit();
Limit<Bytes> current_memory_left();

/// model, vendor, isa, the counts of hwloc, frequencies, and for each level of cache
/// l1_data_cache_bytes, l1_data_cache_line_bytes, l1_data_cache_shared_by_cpus, ...
FactSection cpu_section(const CpuInfo& cpu, const Outcome<Topology>& topology);
}  // namespace scaleworth::probes::host
