// SPDX-License-Identifier: Apache-2.0
#include "probes/host/workers/cpus.h"

#include "src/core/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

namespace scaleworth::probes::host {
namespace {

int topology_number(int cpu, const char* name, int fallback) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, name));
  int number = 0;
  return file >> number ? number : fallback;
}

/// The allowed CPUs in ascending order. The mask of a machine with more than 1024 CPUs does not
/// fit cpu_set_t, so it grows until the kernel accepts it.
std::vector<int> allowed_cpus() {
  for (std::size_t capacity = 1024; capacity <= 1U << 20; capacity *= 2) {
    std::vector<unsigned long> words(capacity / (8 * sizeof(unsigned long)));
    auto* mask = reinterpret_cast<cpu_set_t*>(words.data());
    const std::size_t bytes = words.size() * sizeof(unsigned long);
    if (sched_getaffinity(0, bytes, mask) == 0) {
      std::vector<int> cpus;
      for (std::size_t cpu = 0; cpu < capacity; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) break;
  }
  throw ProbeFailure(fmt::format("the CPU affinity mask cannot be read: {}", std::strerror(errno)));
}

}  // namespace

std::vector<int> worker_order(std::span<const CpuPlace> places) {
  std::map<std::pair<int, int>, int> threads_seen;
  std::vector<std::pair<int, int>> ranked;  // (thread number within its core, cpu)
  for (const CpuPlace& place : places) {
    ranked.emplace_back(threads_seen[{place.package, place.core}]++, place.cpu);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int>::first);
  std::vector<int> order;
  for (const auto& [thread, cpu] : ranked) order.push_back(cpu);
  return order;
}

std::vector<int> worker_cpus() {
  std::vector<CpuPlace> places;
  for (const int cpu : allowed_cpus()) {
    places.push_back({.cpu = cpu,
                      .package = topology_number(cpu, "physical_package_id", 0),
                      .core = topology_number(cpu, "core_id", cpu)});
  }
  return worker_order(places);
}

}  // namespace scaleworth::probes::host
