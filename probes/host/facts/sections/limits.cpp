// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/address_space.h"
#include "probes/host/facts/proc/text.h"
#include "probes/host/facts/sections/sections.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace scaleworth::probes::host {
namespace {

constexpr const char* meminfo_source = "/proc/meminfo";

Fact bytes_fact(const char* name, const std::optional<Bytes>& bytes) {
  return fact(name, {bytes, bytes ? meminfo_source : "/proc/meminfo has no such line"});
}

Fact resource_fact(const char* name, int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) {
    return {name, std::nullopt, "getrlimit(2) failed"};
  }
  if (limit.rlim_cur == RLIM_INFINITY) return {name, std::nullopt, "unlimited"};
  return {name, Value(static_cast<std::int64_t>(limit.rlim_cur)), "getrlimit(2)"};
}

Fact quota_fact(const Limit<double>& quota) {
  if (!quota.value) return {"cpu_quota_cpus", std::nullopt, quota.source};
  return {"cpu_quota_cpus", Value(*quota.value), quota.source};
}

}  // namespace

FactSection memory_section(const MemoryInfo& memory) {
  const std::string policy_file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto policy = chosen_word(read_text(policy_file).value_or(std::string()));
  const auto pages = memory.huge_pages_reserved;
  return {"memory",
          {bytes_fact("total_bytes", memory.total),
           bytes_fact("available_bytes", memory.available),
           bytes_fact("swap_bytes", memory.swap_total),
           bytes_fact("huge_page_bytes", memory.huge_page_size),
           fact("huge_pages_reserved",
                pages ? std::optional(Value(static_cast<std::int64_t>(*pages))) : std::nullopt,
                meminfo_source,
                "/proc/meminfo has no such line"),
           fact("transparent_huge_pages",
                policy ? std::optional(Value(*policy)) : std::nullopt,
                policy_file,
                fmt::format("{} cannot be read", policy_file))}};
}

FactSection limits_section(const Outcome<Topology>& topology,
                           const MemoryInfo& memory,
                           const CgroupLimits& cgroup) {
  const auto affinity = affinity_cpus();
  const WorkerLimit workers = worker_limit(topology, affinity, cgroup.cpus);
  return {"limits",
          {{"workers", Value(std::int64_t{workers.workers}), workers.reason},
           fact("affinity_cpus",
                affinity ? std::optional(Value(std::int64_t{*affinity})) : std::nullopt,
                "sched_getaffinity(2)",
                "the kernel does not tell the affinity mask"),
           quota_fact(cgroup.cpus),
           fact("memory_left_bytes",
                memory_left(memory, cgroup.memory_remaining, limited_address_space())),
           fact("cgroup_memory_limit_bytes", cgroup.memory),
           resource_fact("address_space_limit_bytes", RLIMIT_AS),
           resource_fact("data_limit_bytes", RLIMIT_DATA)}};
}

}  // namespace scaleworth::probes::host
