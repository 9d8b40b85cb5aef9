// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/limits.h"

#include "probes/host/facts/proc/address_space.h"
#include "probes/host/facts/proc/text.h"
#include "probes/host/workers/cpus.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

CgroupLimits current_cgroup_limits() {
  return read_cgroup_limits(read_text("/proc/self/cgroup").value_or(std::string()));
}

void tighten(Limit<Bytes>& limit, const std::optional<Bytes>& value, const std::string& source) {
  if (value && (!limit.value || *value < *limit.value)) limit = {value, source};
}

}  // namespace

std::optional<int> affinity_cpus() {
  try {
    return static_cast<int>(worker_cpus().size());
  } catch (const ProbeFailure&) {
    return std::nullopt;
  }
}

WorkerLimit worker_limit(const Outcome<Topology>& topology,
                         const std::optional<int>& affinity,
                         const Limit<double>& quota) {
  WorkerLimit limit{1, "neither topology nor affinity mask can be read"};
  const auto* known = std::get_if<Topology>(&topology);
  if (known != nullptr && known->usable_cores > 0) {
    limit = {known->usable_cores,
             fmt::format("{} of {} cores in the affinity mask", known->usable_cores, known->cores)};
  } else if (affinity) {
    limit = {*affinity, fmt::format("{} logical CPUs in the affinity mask", *affinity)};
  }
  if (quota.value && *quota.value < limit.workers) {
    limit = {std::max(1, static_cast<int>(std::floor(*quota.value))),
             fmt::format("CPU quota of {:.3g} CPUs ({})", *quota.value, quota.source)};
  }
  return limit;
}

Limit<Bytes> memory_left(const MemoryInfo& memory,
                         const Limit<Bytes>& cgroup_remaining,
                         const std::optional<Bytes>& address_space) {
  Limit<Bytes> left{std::nullopt, "/proc/meminfo has no MemAvailable and no limit is set"};
  tighten(left, memory.available, "/proc/meminfo MemAvailable");
  tighten(left, cgroup_remaining.value, cgroup_remaining.source);
  tighten(left, address_space, "RLIMIT_AS or RLIMIT_DATA less what is mapped (ulimit -v, -d)");
  return left;
}

WorkerLimit current_worker_limit() {
  return worker_limit(read_topology(), affinity_cpus(), current_cgroup_limits().cpus);
}

Limit<Bytes> current_memory_left() {
  return memory_left(
      read_meminfo(), current_cgroup_limits().memory_remaining, limited_address_space());
}

}  // namespace scaleworth::probes::host
