// SPDX-License-Identifier: Apache-2.0
/// The sections of host_facts(), each made from what the readers found.
#pragma once

#include "probes/host/facts/cpuid.h"
#include "probes/host/facts/limits.h"
#include "probes/host/facts/proc/cgroup.h"
#include "probes/host/facts/proc/cpuinfo.h"
#include "probes/host/facts/proc/memory_info.h"
#include "probes/host/facts/topology.h"
#include "src/core/outcome.h"
#include "src/core/run/record.h"

#include <optional>
#include <string>

namespace scaleworth::probes::host {

/// A fact of an optional reading: its source when present, `otherwise` when absent.
Fact fact(const std::string& name,
          const std::optional<Value>& value,
          const std::string& source,
          const std::string& otherwise);
/// A limit's value, or the reason that its source gives.
Fact fact(const std::string& name, const Limit<Bytes>& limit);

/// model, vendor, isa, the counts of hwloc, frequencies, and for each level of cache
/// l1_data_cache_bytes, l1_data_cache_line_bytes, l1_data_cache_shared_by_cpus, ...
FactSection cpu_section(const CpuInfo& cpu,
                        const CpuidFacts& cpuid,
                        const Outcome<Topology>& topology);
FactSection memory_section(const MemoryInfo& memory);
FactSection limits_section(const Outcome<Topology>& topology,
                           const MemoryInfo& memory,
                           const CgroupLimits& cgroup);
/// The hypervisor's name, container, and steal time since boot.
FactSection virtualisation_section(const CpuInfo& cpu, const CpuidFacts& cpuid);
/// Kernel, C library, compiler, operating system.
FactSection software_section();

/// The instruction-set extensions of `cpu` that matter to kernels and libraries, in the order in
/// which they appeared: "sse2 avx avx2 fma avx512f ...". Empty when none is known.
std::string isa_summary(const CpuInfo& cpu);

/// "KVM" for the signature "KVMKVMKVM"; the signature itself when it is not a known one.
std::string hypervisor_name(const std::string& signature);

}  // namespace scaleworth::probes::host
