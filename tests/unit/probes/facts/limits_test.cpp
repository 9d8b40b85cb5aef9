// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/limits.h"

#include "probes/host/facts/host_facts.h"
#include "probes/host/facts/sections/sections.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {

const Limit<double> no_quota{std::nullopt, "none"};

Outcome<Topology> cores(int usable, int all) {
  Topology topology;
  topology.cores = all;
  topology.usable_cores = usable;
  return topology;
}

}  // namespace

TEST_CASE("workers are the usable cores, not the logical CPUs", "[limits]") {
  const WorkerLimit limit = worker_limit(cores(4, 8), 8, no_quota);
  CHECK(limit.workers == 4);
  CHECK(limit.reason == "4 of 8 cores in the affinity mask");
}

TEST_CASE("a CPU quota below the cores binds, rounded down but never to none", "[limits]") {
  CHECK(worker_limit(cores(4, 4), 4, {2.5, "cpu.max"}).workers == 2);
  CHECK(worker_limit(cores(4, 4), 4, {2.5, "cpu.max"}).reason == "CPU quota of 2.5 CPUs (cpu.max)");
  CHECK(worker_limit(cores(4, 4), 4, {0.5, "cpu.max"}).workers == 1);
  CHECK(worker_limit(cores(4, 4), 4, {8.0, "cpu.max"}).workers == 4);
}

TEST_CASE("without topology the affinity mask counts, without both one worker", "[limits]") {
  CHECK(worker_limit(Skipped{"no hwloc"}, 3, no_quota).workers == 3);
  CHECK(worker_limit(Skipped{"no hwloc"}, std::nullopt, no_quota).workers == 1);
}

TEST_CASE("the least of free memory, control group and resource limits is left", "[limits]") {
  MemoryInfo memory;
  memory.available = Bytes(1000.0);
  const Limit<Bytes> none{std::nullopt, "no memory limit"};
  CHECK(memory_left(memory, none, std::nullopt).value == Bytes(1000.0));
  CHECK(memory_left(memory, {Bytes(600.0), "memory.max"}, std::nullopt).source == "memory.max");
  CHECK(memory_left(memory, {Bytes(600.0), "memory.max"}, Bytes(64.0)).value == Bytes(64.0));
  CHECK_FALSE(memory_left({}, none, std::nullopt).value.has_value());
}

TEST_CASE("the last cache is the highest level that holds data", "[limits]") {
  const Cache l1{1, "data", Bytes(32768.0), 64, 1, 2};
  const Cache l1i{1, "instruction", Bytes(65536.0), 64, 1, 2};
  const Cache l2{2, "unified", Bytes(1e6), 64, 1, 2};
  CHECK(last_data_cache({l1, l1i, l2})->level == 2);
  CHECK(last_data_cache({l1, l1i})->size == Bytes(32768.0));
  CHECK_FALSE(last_data_cache({l1i}).has_value());
}

TEST_CASE("two sorts of cores give their caches names of their own", "[facts]") {
  Topology topology;
  topology.caches = {{2, "unified", Bytes(2097152.0), 64, 2, 8},
                     {2, "unified", Bytes(4194304.0), 64, 4, 2}};
  const FactSection section = cpu_section({}, {}, topology);
  const auto value = [&](const std::string& name) {
    const auto fact = std::find_if(
        section.facts.begin(), section.facts.end(), [&](const Fact& f) { return f.name == name; });
    REQUIRE(fact != section.facts.end());
    return std::get<std::int64_t>(fact->value.value());
  };
  CHECK(value("l2_cache_bytes") == 2097152);
  CHECK(value("l2_cache_sort_2_bytes") == 4194304);
}

TEST_CASE("known hypervisors have names, others keep their signature", "[facts]") {
  CHECK(hypervisor_name("KVMKVMKVM") == "KVM");
  CHECK(hypervisor_name("Microsoft Hv") == "Hyper-V");
  CHECK(hypervisor_name("NewNewNewNew") == "NewNewNewNew");
}

TEST_CASE("every fact of this node has a name of its own and a source or a reason", "[facts]") {
  const auto sections = host_facts();
  REQUIRE(sections.size() == 5);
  for (const FactSection& section : sections) {
    std::set<std::string> names;
    for (const Fact& fact : section.facts) {
      INFO(section.name << "." << fact.name);
      CHECK_FALSE(fact.source.empty());
      CHECK(names.insert(fact.name).second);
    }
  }
}
