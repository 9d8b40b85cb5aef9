// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"

#include "probes/host/cpu_state.h"
#include "probes/host/proc_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

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

namespace {
constexpr const char* cpuinfo_source = "/proc/cpuinfo";

/// x86 names, then aarch64's, as /proc/cpuinfo spells them.
constexpr std::array<std::string_view, 20> extensions{
    "sse2",     "sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx512f",
    "avx512dq", "avx512bw", "avx512vl", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_bf16", "amx_int8", "asimd",    "asimdhp",  "sve",         "sve2"};

Fact text_fact(const char* name, const std::string& value, const char* reason) {
  return fact(
      name, value.empty() ? std::nullopt : std::optional(Value(value)), cpuinfo_source, reason);
}

Fact count_fact(const char* name, int count) {
  return fact(name,
              count > 0 ? std::optional(Value(std::int64_t{count})) : std::nullopt,
              "hwloc",
              "hwloc sees none here");
}

/// `nth`: how many caches of this level and kind came before; CPUs with two sorts of cores have
/// two sorts of caches.
void append_cache(std::vector<Fact>& facts, const Cache& cache, std::size_t nth) {
  std::string name = cache.kind == "unified" ? fmt::format("l{}_cache", cache.level)
                                             : fmt::format("l{}_{}_cache", cache.level, cache.kind);
  if (nth > 0) name += fmt::format("_sort_{}", nth + 1);
  facts.push_back({name + "_bytes", Value(static_cast<std::int64_t>(cache.size.value())), "hwloc"});
  facts.push_back(
      fact(name + "_line_bytes",
           cache.line_bytes ? std::optional(Value(std::int64_t{*cache.line_bytes})) : std::nullopt,
           "hwloc",
           "hwloc does not know the line size"));
  facts.push_back({name + "_shared_by_cpus", Value(std::int64_t{cache.shared_by_cpus}), "hwloc"});
  facts.push_back({name + "_count", Value(std::int64_t{cache.count}), "hwloc"});
}

void append_topology(std::vector<Fact>& facts, const Topology& topology) {
  facts.push_back(count_fact("sockets", topology.sockets));
  facts.push_back(count_fact("cores", topology.cores));
  facts.push_back(count_fact("logical_cpus", topology.logical_cpus));
  const bool known = topology.cores > 0;
  facts.push_back(
      fact("threads_per_core",
           known ? std::optional(Value(static_cast<double>(topology.logical_cpus) / topology.cores))
                 : std::nullopt,
           "hwloc; a virtual machine can hide that two CPUs are threads of one core",
           "hwloc sees no cores here"));
  facts.push_back(count_fact("numa_nodes", topology.numa_nodes));
  if (topology.caches.empty()) facts.push_back({"caches", std::nullopt, "hwloc sees none here"});
  for (auto cache = topology.caches.begin(); cache != topology.caches.end(); ++cache) {
    const auto alike = [&](const Cache& other) {
      return other.level == cache->level && other.kind == cache->kind;
    };
    const auto nth = std::count_if(topology.caches.begin(), cache, alike);
    append_cache(facts, *cache, static_cast<std::size_t>(nth));
  }
}
}  // namespace

std::string isa_summary(const CpuInfo& cpu) {
  std::string summary;
  for (const std::string_view extension : extensions) {
    if (!cpu.has(extension)) continue;
    if (!summary.empty()) summary += ' ';
    summary += extension;
  }
  return summary;
}

FactSection cpu_section(const CpuInfo& cpu,
                        const CpuidFacts& cpuid,
                        const Outcome<Topology>& topology) {
  std::vector<Fact> facts{
      text_fact("model", cpu.model_name, "/proc/cpuinfo names no model"),
      text_fact("vendor", cpu.vendor, "/proc/cpuinfo names no vendor"),
      text_fact("isa", isa_summary(cpu), "/proc/cpuinfo lists no known extension")};
  if (const auto* known = std::get_if<Topology>(&topology)) {
    append_topology(facts, *known);
  } else if (const auto* skipped = std::get_if<Skipped>(&topology)) {
    for (const char* name : {"sockets", "cores", "logical_cpus", "numa_nodes", "caches"}) {
      facts.push_back({name, std::nullopt, skipped->reason});
    }
  }
  for (Fact& clock : frequency_facts(cpu, cpuid)) facts.push_back(std::move(clock));
  return {"cpu", std::move(facts)};
}

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
                "the kernel does not report the affinity mask"),
           quota_fact(cgroup.cpus),
           fact("memory_left_bytes",
                memory_left(memory, cgroup.memory_remaining, limited_address_space())),
           fact("cgroup_memory_limit_bytes", cgroup.memory),
           resource_fact("address_space_limit_bytes", RLIMIT_AS),
           resource_fact("data_limit_bytes", RLIMIT_DATA)}};
}

namespace {
Fact kernel_fact() {
  utsname names{};
  if (uname(&names) != 0) return {"kernel", std::nullopt, "uname(2) failed"};
  return {"kernel",
          Value(fmt::format("{} {} {}", names.sysname, names.release, names.machine)),
          "uname(2)"};
}

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" of os-release(5), without the quotes.
Fact system_fact() {
  const std::string file = "/etc/os-release";
  const std::string text = read_text(file).value_or(std::string());
  constexpr std::string_view key = "PRETTY_NAME=";
  for (const std::string_view line : lines(text)) {
    if (line.substr(0, key.size()) != key) continue;
    std::string_view name = trim(line.substr(key.size()));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    return {"operating_system", Value(std::string(name)), file};
  }
  return {"operating_system", std::nullopt, file + " has no PRETTY_NAME"};
}
}  // namespace

FactSection software_section() {
  return {"software",
          {kernel_fact(),
           system_fact(),
           {"c_library",
            Value(fmt::format("glibc {}", gnu_get_libc_version())),
            "gnu_get_libc_version(3)"},
           {"compiler", Value(std::string(__VERSION__)), "__VERSION__ of the build"}}};
}

namespace {
struct Known {
  std::string_view signature;
  std::string_view name;
};
/// CPUID leaf 0x40000000 of common hypervisors (Linux arch/x86/kernel/cpu/hypervisor.c and the
/// vendors' manuals).
constexpr std::array known_hypervisors{Known{"KVMKVMKVM", "KVM"},
                                       Known{"Linux KVM Hv", "KVM (Hyper-V emulation)"},
                                       Known{"Microsoft Hv", "Hyper-V"},
                                       Known{"VMwareVMware", "VMware"},
                                       Known{"XenVMMXenVMM", "Xen"},
                                       Known{"bhyve bhyve ", "bhyve"},
                                       Known{"TCGTCGTCGTCG", "QEMU (emulated)"},
                                       Known{"prl hyperv  ", "Parallels"},
                                       Known{"ACRNACRNACRN", "ACRN"}};

std::string one_line(const std::string& file) {
  return std::string(trim(read_text(file, 256).value_or(std::string())));
}

/// On x86 the hypervisor answers CPUID; elsewhere it shows itself in /sys or by the firmware's
/// maker.
Fact hypervisor_fact(const CpuInfo& cpu, const CpuidFacts& cpuid) {
  if (cpuid.hypervisor) {
    return {"hypervisor", Value(hypervisor_name(*cpuid.hypervisor)), "CPUID leaf 0x40000000"};
  }
  if (const std::string type = one_line("/sys/hypervisor/type"); !type.empty()) {
    return {"hypervisor", Value(type), "/sys/hypervisor/type"};
  }
  if (cpu.has("hypervisor")) return {"hypervisor", Value(std::string("unknown")), "/proc/cpuinfo"};
  return {"hypervisor", std::nullopt, "none seen by CPUID, /sys/hypervisor or /proc/cpuinfo"};
}

Fact product_fact(const char* name, const std::string& file) {
  const std::string text = one_line(file);
  return fact(name,
              text.empty() ? std::nullopt : std::optional(Value(text)),
              file,
              file + " cannot be read");
}

Fact container_fact() {
  for (const auto& [file, name] : {std::pair{"/.dockerenv", "docker"},
                                   std::pair{"/run/.containerenv", "podman"},
                                   std::pair{"/.singularity.d", "apptainer"}}) {
    if (access(file, F_OK) == 0) return {"container", Value(std::string(name)), file};
  }
  return {"container", std::nullopt, "no mark of a known container runtime"};
}

Fact steal_fact() {
  const auto times = read_machine_times();
  if (!times || times->total_s() <= 0.0) {
    return {"steal_fraction_since_boot", std::nullopt, "/proc/stat cannot be read"};
  }
  return {"steal_fraction_since_boot", Value(times->steal_s / times->total_s()), "/proc/stat"};
}
}  // namespace

std::string hypervisor_name(const std::string& signature) {
  for (const Known& known : known_hypervisors) {
    if (known.signature == signature) return std::string(known.name);
  }
  return signature;
}

FactSection virtualisation_section(const CpuInfo& cpu, const CpuidFacts& cpuid) {
  return {"virtualisation",
          {hypervisor_fact(cpu, cpuid),
           product_fact("system_vendor", "/sys/class/dmi/id/sys_vendor"),
           product_fact("system_product", "/sys/class/dmi/id/product_name"),
           container_fact(),
           steal_fact()}};
}
}  // namespace scaleworth::probes::host
