// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"

#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

using namespace scaleworth;
using namespace scaleworth::probes::host;

namespace {
/// A control-group file system of our own making.
class FakeMount {
 public:
  FakeMount()
      : root_(std::filesystem::temp_directory_path() /
              ("scaleworth-cgroup-" + std::to_string(getpid()))) {}
  FakeMount(const FakeMount&) = delete;
  FakeMount& operator=(const FakeMount&) = delete;
  ~FakeMount() { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::string path() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};
}  // namespace

TEST_CASE("cpu.max is a quota over a period, or max", "[cgroup]") {
  CHECK(parse_cpu_max("150000 100000\n") == 1.5);
  CHECK(parse_cpu_max("max 100000\n") == HUGE_VAL);
  for (const char* text : {"", "max", "100000", "0 100000", "100000 0", "-5 100000", "1e5 1e5"}) {
    INFO(text);
    CHECK_FALSE(parse_cpu_max(text).has_value());
  }
}

TEST_CASE("a version 1 quota of -1 is none", "[cgroup]") {
  CHECK(parse_cfs_quota("200000\n", "100000\n") == 2.0);
  CHECK(parse_cfs_quota("-1\n", "100000\n") == HUGE_VAL);
  CHECK_FALSE(parse_cfs_quota("200000", "").has_value());
}

TEST_CASE("a memory limit is a byte count, max, or a huge number for none", "[cgroup]") {
  CHECK(parse_memory_limit("67108864\n") == Bytes(67108864.0));
  CHECK(parse_memory_limit("max\n") == Bytes(HUGE_VAL));
  CHECK(parse_memory_limit("9223372036854771712\n") == Bytes(HUGE_VAL));
  CHECK_FALSE(parse_memory_limit("64M").has_value());
  CHECK_FALSE(parse_memory_limit("-1").has_value());
}

TEST_CASE("membership lines are hierarchy, controllers and path", "[cgroup]") {
  const auto groups = parse_cgroup_membership(
      "4:cpu,cpuacct:/job/7\nno "
      "colons\n3:memory\n2:memory:relative\n1:cpu:/../up\n0::/user.slice\n");
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].controllers == "cpu,cpuacct");
  CHECK(groups[0].path == "/job/7");
  CHECK(groups[1].controllers.empty());
  CHECK(groups[1].path == "/user.slice");
}

TEST_CASE("the tightest limit of a group and its ancestors holds in version 2", "[cgroup]") {
  const FakeMount mount;
  mount.write("batch/cpu.max", "100000 100000\n");
  mount.write("batch/job/cpu.max", "400000 100000\n");
  mount.write("batch/cpu.stat", "usage_usec 5000\nnr_periods 40\nnr_throttled 30\n");
  mount.write("batch/job/cpu.stat", "nr_periods 7\nnr_throttled 1\n");
  mount.write("batch/memory.max", "1000\n");
  mount.write("batch/memory.current", "900\n");
  mount.write("batch/memory.stat", "anon 200\ninactive_file 300\n");
  mount.write("batch/job/memory.max", "2000\n");
  mount.write("batch/job/memory.current", "100\n");
  const CgroupLimits limits = read_cgroup_limits("0::/batch/job\n", mount.path());
  CHECK(limits.cpus.value == 1.0);
  CHECK(limits.cpus.source == mount.path() + "/batch/cpu.max");
  CHECK(limits.cpu_periods == 40);
  CHECK(limits.throttled_periods == 30);
  CHECK(limits.memory.value == Bytes(1000.0));
  // 1000 - (900 - 300 reclaimable) = 400 is less than 2000 - 100.
  CHECK(limits.memory_remaining.value == Bytes(400.0));
}

TEST_CASE("version 1 controllers have mounts of their own", "[cgroup]") {
  const FakeMount mount;
  mount.write("cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  mount.write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  mount.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  mount.write("memory/job/memory.limit_in_bytes", "5000\n");
  mount.write("memory/job/memory.usage_in_bytes", "6000\n");
  const CgroupLimits limits =
      read_cgroup_limits("3:cpu,cpuacct:/job\n2:memory:/job\n", mount.path());
  CHECK(limits.cpus.value == 0.5);
  CHECK(limits.memory.value == Bytes(5000.0));
  CHECK(limits.memory_remaining.value == Bytes(0.0));  // over the limit: nothing, not less
}

TEST_CASE("a container that sees only its own group at the mount's root has its limit",
          "[cgroup]") {
  const FakeMount mount;
  mount.write("memory.max", "4096\n");
  mount.write("memory.current", "96\n");
  const CgroupLimits limits = read_cgroup_limits("0::/not/visible/here\n", mount.path());
  CHECK(limits.memory_remaining.value == Bytes(4000.0));
}

TEST_CASE("no limit and a malformed limit are told apart", "[cgroup]") {
  const FakeMount mount;
  CHECK(read_cgroup_limits("0::/\n", mount.path()).cpus.source.find("no CPU quota") == 0);
  mount.write("cpu.max", "plenty\n");
  const CgroupLimits limits = read_cgroup_limits("0::/\n", mount.path());
  CHECK_FALSE(limits.cpus.value.has_value());
  CHECK(limits.cpus.source == mount.path() + "/cpu.max is malformed");
}

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
  const Bytes memory(1000.0);
  const Limit<Bytes> none{std::nullopt, "no memory limit"};
  CHECK(memory_left(memory, none, std::nullopt).value == Bytes(1000.0));
  CHECK(memory_left(memory, {Bytes(600.0), "memory.max"}, std::nullopt).source == "memory.max");
  CHECK(memory_left(memory, {Bytes(600.0), "memory.max"}, Bytes(64.0)).value == Bytes(64.0));
  CHECK_FALSE(memory_left(std::nullopt, none, std::nullopt).value.has_value());
}

TEST_CASE("the last cache is that of the highest level", "[limits]") {
  const Cache l1{1, "data", Bytes(32768.0), 64, 1, 2};
  const Cache l2{2, "unified", Bytes(1e6), 64, 1, 2};
  CHECK(last_data_cache({l1, l2})->level == 2);
  CHECK_FALSE(last_data_cache({}).has_value());
}

TEST_CASE("two sorts of cores give their caches names of their own", "[facts]") {
  Topology topology;
  topology.caches = {{2, "unified", Bytes(2097152.0), 64, 2, 8},
                     {2, "unified", Bytes(4194304.0), 64, 4, 2}};
  const FactSection section = cpu_section({}, topology);
  const auto value = [&](const std::string& name) {
    const auto fact = std::find_if(
        section.facts.begin(), section.facts.end(), [&](const Fact& f) { return f.name == name; });
    REQUIRE(fact != section.facts.end());
    return std::get<std::int64_t>(fact->value.value());
  };
  CHECK(value("l2_cache_bytes") == 2097152);
  CHECK(value("l2_cache_sort_2_bytes") == 4194304);
}

TEST_CASE("interfaces have the rate that their drivers state, others are left out", "[facts]") {
  const FakeMount sys;
  sys.write("net/lo/speed", "");
  sys.write("net/eth0/speed", "25000\n");
  sys.write("net/eth0/device/numa_node", "1\n");
  sys.write("net/eth1/speed", "-1\n");
  sys.write("net/eth1/operstate", "down\n");
  sys.write("net/tun0/speed", "10\n");
  sys.write("infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  CHECK(network_rates(sys.path()) ==
        "eth0 25 Gbit/s at NUMA node 1, tun0 0.01 Gbit/s (virtual), mlx5_0 200 Gb/sec (4X HDR)");
  CHECK(network_rates(sys.path() + "/none").empty());
}

TEST_CASE("every fact of this node has a name of its own and a source or a reason", "[facts]") {
  const auto sections = host_facts();
  REQUIRE(sections.size() == 6);
  for (const FactSection& section : sections) {
    std::set<std::string> names;
    for (const Fact& fact : section.facts) {
      INFO(section.name << "." << fact.name);
      CHECK_FALSE(fact.source.empty());
      CHECK(names.insert(fact.name).second);
    }
  }
}
