// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/frequency.h"
#include "probes/host/facts/sections/sections.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::probes::host {
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

}  // namespace scaleworth::probes::host
