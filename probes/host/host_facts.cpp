// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"

#include "probes/gpu/driver_signs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <type_traits>

#include <gnu/libc-version.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace scaleworth::probes::host {
namespace {
constexpr const char* cpuinfo_source = "/proc/cpuinfo";

/// x86 names, then aarch64's, as /proc/cpuinfo spells them, in the order in which they appeared.
constexpr std::array<std::string_view, 20> extensions{
    "sse2",     "sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx512f",
    "avx512dq", "avx512bw", "avx512vl", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_bf16", "amx_int8", "asimd",    "asimdhp",  "sve",         "sve2"};

template <class T>
Value value_of(const T& reading) {
  return reading;
}

Value value_of(Bytes bytes) {
  return static_cast<std::int64_t>(bytes.value());
}

/// An optional reading: its source when present, `otherwise` when absent.
template <class T>
Fact fact(const std::string& name,
          const std::optional<T>& reading,
          const std::string& source,
          const std::string& otherwise) {
  if (!reading) return {name, std::nullopt, otherwise};
  return {name, value_of(*reading), source};
}

/// A limit's value, or the reason that its source gives.
template <class T>
Fact fact(const std::string& name, const Limit<T>& limit) {
  return fact(name, limit.value, limit.source, limit.source);
}

std::optional<std::string> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(std::string(text));
}

std::string one_line(const std::string& file) {
  // A line of /sys; longer is none.
  return std::string(trimmed(read_text(file, 256).value_or(std::string())));
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code hidden;
  for (const auto& entry : std::filesystem::directory_iterator(folder, hidden))
    names.insert(entry.path().filename());
  return names;
}

/// Of the extensions that matter to kernels and libraries: "sse2 avx avx2 fma avx512f ...".
std::string isa_summary(const CpuInfo& cpu) {
  std::vector<std::string_view> present;
  std::ranges::copy_if(extensions, std::back_inserter(present), [&](std::string_view extension) {
    return cpu.has(extension);
  });
  return fmt::format("{}", fmt::join(present, " "));
}

/// `nth`: how many caches of this level and kind came before; CPUs with two sorts of cores have
/// two sorts of caches.
void append_cache(std::vector<Fact>& facts, const Cache& cache, std::size_t nth) {
  std::string name = cache.kind == "unified" ? fmt::format("l{}_cache", cache.level)
                                             : fmt::format("l{}_{}_cache", cache.level, cache.kind);
  if (nth > 0) name += fmt::format("_sort_{}", nth + 1);
  facts.push_back({name + "_bytes", value_of(cache.size), "hwloc"});
  facts.push_back(
      fact(name + "_line_bytes", cache.line_bytes, "hwloc", "hwloc does not know the line size"));
  facts.push_back({name + "_shared_by_cpus", value_of(cache.shared_by_cpus), "hwloc"});
  facts.push_back({name + "_count", value_of(cache.count), "hwloc"});
}

void append_topology(std::vector<Fact>& facts, const Topology& topology) {
  const auto add_count = [&](const char* name, int count) {
    const auto seen = count > 0 ? std::optional(count) : std::nullopt;
    facts.push_back(fact(name, seen, "hwloc", "hwloc sees none here"));
  };
  add_count("sockets", topology.sockets);
  add_count("cores", topology.cores);
  add_count("logical_cpus", topology.logical_cpus);
  std::optional<double> threads;
  if (topology.cores > 0) threads = static_cast<double>(topology.logical_cpus) / topology.cores;
  facts.push_back(fact("threads_per_core",
                       threads,
                       "hwloc; a virtual machine can hide that two CPUs are threads of one core",
                       "hwloc sees no cores here"));
  add_count("numa_nodes", topology.numa_nodes);
  if (topology.caches.empty()) facts.push_back({"caches", std::nullopt, "hwloc sees none here"});
  for (auto cache = topology.caches.begin(); cache != topology.caches.end(); ++cache) {
    const auto nth = std::count_if(topology.caches.begin(), cache, [&](const Cache& other) {
      return other.level == cache->level && other.kind == cache->kind;
    });
    append_cache(facts, *cache, static_cast<std::size_t>(nth));
  }
}

FactSection memory_section(const MemoryInfo& memory) {
  std::vector<Fact> facts;
  for (const auto& [name, key] :
       {std::pair{"total_bytes", "MemTotal"}, std::pair{"available_bytes", "MemAvailable"}}) {
    std::optional<std::int64_t> reading;
    const auto found = memory.find(key);
    if (found != memory.end()) reading = static_cast<std::int64_t>(found->second);
    facts.push_back(fact(name, reading, "/proc/meminfo", "/proc/meminfo has no such line"));
  }
  const std::string policy_file = "/sys/kernel/mm/transparent_hugepage/enabled";
  facts.push_back(fact("transparent_huge_pages",
                       chosen_word(read_text(policy_file).value_or(std::string())),
                       policy_file,
                       fmt::format("{} cannot be read", policy_file)));
  return {"memory", std::move(facts)};
}

FactSection limits_section(const Outcome<Topology>& topology,
                           const MemoryInfo& memory,
                           const CgroupLimits& cgroup) {
  const std::optional<int> affinity = affinity_cpus();
  const WorkerLimit workers = worker_limit(topology, affinity, cgroup.cpus);
  return {"limits",
          {{"workers", value_of(workers.workers), workers.reason},
           fact("affinity_cpus",
                affinity,
                "sched_getaffinity(2)",
                "the kernel does not report the affinity mask"),
           fact("cpu_quota_cpus", cgroup.cpus),
           fact("memory_left_bytes",
                memory_left(
                    available_memory(memory), cgroup.memory_remaining, limited_address_space())),
           fact("cgroup_memory_limit_bytes", cgroup.memory)}};
}

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
  for (const std::string_view line : words_between(text, "\n")) {
    if (!line.starts_with(key)) continue;
    std::string_view name = trimmed(line.substr(key.size()));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    return {"operating_system", Value(std::string(name)), file};
  }
  return {"operating_system", std::nullopt, file + " has no PRETTY_NAME"};
}

/// Kernel, C library, compiler, operating system.
FactSection software_section() {
  return {"software",
          {kernel_fact(),
           system_fact(),
           {"c_library",
            Value(fmt::format("glibc {}", gnu_get_libc_version())),
            "gnu_get_libc_version(3)"},
           {"compiler", Value(std::string(__VERSION__)), "__VERSION__ of the build"}}};
}

/// Where the firmware's maker is the hypervisor's or the cloud's, system_vendor names it.
Fact hypervisor_fact(const CpuInfo& cpu) {
  if (const std::string type = one_line("/sys/hypervisor/type"); !type.empty()) {
    return {"hypervisor", Value(type), "/sys/hypervisor/type"};
  }
  if (cpu.has("hypervisor")) return {"hypervisor", Value(std::string("unknown")), cpuinfo_source};
  return {"hypervisor", std::nullopt, "none seen by /sys/hypervisor or /proc/cpuinfo"};
}

Fact container_fact() {
  const std::optional<ContainerMark> mark = container_mark();
  if (!mark) return {"container", std::nullopt, "no mark of a known container runtime"};
  return {"container", Value(mark->runtime), mark->file};
}

/// The hypervisor's name, container, and steal time since boot.
FactSection virtualisation_section(const CpuInfo& cpu) {
  const auto product_fact = [](const char* name, const std::string& file) {
    return fact(name, unless_empty(one_line(file)), file, file + " cannot be read");
  };
  std::optional<double> steal;
  if (const auto times = read_machine_times(); times && times->total_s() > 0.0) {
    steal = times->steal_s / times->total_s();
  }
  return {"virtualisation",
          {hypervisor_fact(cpu),
           product_fact("system_vendor", "/sys/class/dmi/id/sys_vendor"),
           product_fact("system_product", "/sys/class/dmi/id/product_name"),
           container_fact(),
           fact("steal_fraction_since_boot", steal, "/proc/stat", "/proc/stat cannot be read")}};
}

template <auto release>
struct Release {
  template <class Object>
  void operator()(Object* object) const {
    release(object);
  }
};
using Handle =
    std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Release<&hwloc_topology_destroy>>;
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, Release<&hwloc_bitmap_free>>;

constexpr std::array cache_types{
    HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};

/// The whole machine, also what a cpuset forbids: limits are facts of their own.
Handle load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Handle topology(raw);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  for (const hwloc_obj_type_t type : cache_types) {
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

int usable_cores(hwloc_topology_t topology) {
  const Bitmap allowed(hwloc_bitmap_alloc());
  if (!allowed || hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_THREAD) != 0) return 0;
  int usable = 0;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
    usable += hwloc_bitmap_intersects(core->cpuset, allowed.get()) != 0 ? 1 : 0;
  }
  return usable;
}

/// Adds the object to the entry of equal caches.
void add(std::vector<Cache>& caches, hwloc_obj_t object) {
  const auto& attributes = object->attr->cache;
  const Cache seen{
      static_cast<int>(attributes.depth),
      attributes.type == HWLOC_OBJ_CACHE_DATA ? "data" : "unified",
      Bytes(static_cast<double>(attributes.size)),
      attributes.linesize > 0 ? std::optional(static_cast<int>(attributes.linesize)) : std::nullopt,
      std::max(1, hwloc_bitmap_weight(object->cpuset)),
      1};
  const auto same = std::find_if(caches.begin(), caches.end(), [&](const Cache& cache) {
    return cache.level == seen.level && cache.kind == seen.kind && cache.size == seen.size &&
           cache.shared_by_cpus == seen.shared_by_cpus;
  });
  if (same == caches.end()) {
    caches.push_back(seen);
  } else {
    ++same->count;
  }
}
}  // namespace

FactSection cpu_section(const CpuInfo& cpu, const Outcome<Topology>& topology) {
  const auto text_fact = [](const char* name, const std::string& text, const char* otherwise) {
    return fact(name, unless_empty(text), cpuinfo_source, otherwise);
  };
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
  std::ranges::move(frequency_facts(cpu), std::back_inserter(facts));
  return {"cpu", std::move(facts)};
}

std::vector<FactSection> host_facts() {
  const CpuInfo cpu = read_cpuinfo();
  const Outcome<Topology> topology = read_topology();
  const MemoryInfo memory = read_meminfo();
  return {cpu_section(cpu, topology),
          memory_section(memory),
          limits_section(topology, memory, read_cgroup_limits(own_cgroups())),
          virtualisation_section(cpu),
          software_section(),
          {"network",
           {fact("rates", unless_empty(network_rates()), "/sys/class", "none in /sys/class")}}};
}

std::string network_rates(const std::string& folder) {
  std::vector<std::string> rates;
  for (const std::string& name : names_in(folder + "/net")) {
    const std::string at = folder + "/net/" + name;
    const double megabits = parse_number<double>(one_line(at + "/speed")).value_or(0.0);
    if (name == "lo" || megabits <= 0.0) continue;
    const std::string node = one_line(at + "/device/numa_node");
    rates.push_back(fmt::format("{} {:g} Gbit/s{}{}",
                                name,
                                1e-3 * megabits,
                                std::filesystem::exists(at + "/device") ? "" : " (virtual)",
                                node.empty() || node == "-1" ? "" : " at NUMA node " + node));
  }
  for (const std::string& name : names_in(folder + "/infiniband")) {
    const std::string rate = one_line(folder + "/infiniband/" + name + "/ports/1/rate");
    if (!rate.empty()) rates.push_back(name + " " + rate);
  }
  return fmt::format("{}", fmt::join(rates, ", "));
}

Outcome<Topology> read_topology() {
  const Handle topology = load_topology();
  if (!topology) return Skipped{"hwloc cannot read this machine's topology"};
  Topology result{count(topology.get(), HWLOC_OBJ_PACKAGE),
                  count(topology.get(), HWLOC_OBJ_CORE),
                  count(topology.get(), HWLOC_OBJ_PU),
                  count(topology.get(), HWLOC_OBJ_NUMANODE),
                  usable_cores(topology.get()),
                  {}};
  for (const hwloc_obj_type_t type : cache_types) {
    hwloc_obj_t cache = nullptr;
    while ((cache = hwloc_get_next_obj_by_type(topology.get(), type, cache)) != nullptr) {
      // A virtual machine can show a cache without its size.
      if (cache->attr->cache.size > 0) add(result.caches, cache);
    }
  }
  return result;
}

std::optional<Cache> last_data_cache(const std::vector<Cache>& caches) {
  const auto last = std::ranges::max_element(caches, {}, &Cache::level);
  return last == caches.end() ? std::nullopt : std::optional(*last);
}
}  // namespace scaleworth::probes::host
