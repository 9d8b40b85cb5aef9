// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/host_facts.h"

#include "probes/host/facts/proc/text.h"
#include "probes/host/facts/sections/sections.h"

namespace scaleworth::probes::host {

Fact fact(const std::string& name,
          const std::optional<Value>& value,
          const std::string& source,
          const std::string& otherwise) {
  return {name, value, value ? source : otherwise};
}

Fact fact(const std::string& name, const Limit<Bytes>& limit) {
  if (!limit.value) return {name, std::nullopt, limit.source};
  return {name, Value(static_cast<std::int64_t>(limit.value->value())), limit.source};
}

std::vector<FactSection> host_facts() {
  const CpuInfo cpu = read_cpuinfo();
  const CpuidFacts cpuid = read_cpuid();
  const Outcome<Topology> topology = read_topology();
  const MemoryInfo memory = read_meminfo();
  const CgroupLimits cgroup =
      read_cgroup_limits(read_text("/proc/self/cgroup").value_or(std::string()));
  return {cpu_section(cpu, cpuid, topology),
          memory_section(memory),
          limits_section(topology, memory, cgroup),
          virtualisation_section(cpu, cpuid),
          software_section()};
}

}  // namespace scaleworth::probes::host
