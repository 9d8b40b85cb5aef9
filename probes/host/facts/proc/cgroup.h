// SPDX-License-Identifier: Apache-2.0
/// Limits that a container or a batch system sets by control groups, version 2 and 1.
#pragma once

#include "src/core/units.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {

/// One limit: the value, and the file that it comes from; or no value, and why there is none.
template <class T>
struct Limit {
  std::optional<T> value;
  std::string source;
};

/// Contents of the two forms of a CPU limit. `cpus` is absent when unlimited.
struct CpuQuota {
  std::optional<double> cpus;
};
/// "max 100000" or "150000 100000" (cgroup v2 cpu.max, microseconds of CPU time per period);
/// absent when malformed.
std::optional<CpuQuota> parse_cpu_max(std::string_view text);
/// cpu.cfs_quota_us (-1: unlimited) and cpu.cfs_period_us of cgroup v1; absent when malformed.
std::optional<CpuQuota> parse_cfs_quota(std::string_view quota, std::string_view period);

struct MemoryLimit {
  std::optional<Bytes> bytes;
};
/// "max" or a byte count; 2^60 and more is how v1 spells unlimited. Absent when malformed.
std::optional<MemoryLimit> parse_memory_limit(std::string_view text);

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
};

/// Reads the groups named by `membership` (the text of /proc/self/cgroup) below `mount`, walking up
/// to the mount's root: every ancestor's limit holds. A path that the mount does not have (a
/// container that sees only its own group) is passed over, its ancestors are still read.
CgroupLimits read_cgroup_limits(std::string_view membership,
                                const std::string& mount = "/sys/fs/cgroup");

}  // namespace scaleworth::probes::host
