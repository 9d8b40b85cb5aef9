// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"
#include "probes/host/workers.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace scaleworth::probes::host {
namespace {
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Keeps the least value seen and its file.
template <class T>
void tighten(Limit<T>& limit, const std::optional<T>& value, const std::string& source) {
  if (value && *value < limit.value.value_or(T(unlimited))) limit = {value, source};
}

// Version 1 says "no limit" as 2^63 less a page; no machine has an exbibyte.
constexpr std::int64_t unlimited_memory = std::int64_t{1} << 60;

/// Calls `read(folder, version 2?)` for each folder in which files of the controller may lie: each
/// group's, then its ancestors' up to the mount's root.
template <class Read>
void visit_folders(std::string_view membership,
                   const std::string& mount,
                   const std::string& controller,
                   const Read& read) {
  const auto climb = [&](const std::string& root, std::string path, bool version_2) {
    while (path.ends_with('/')) path.pop_back();
    while (!path.empty()) {
      read(root + path, version_2);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    read(root, version_2);
  };
  for (const CgroupMembership& group : parse_cgroup_membership(membership)) {
    if (group.controllers.empty()) {
      climb(mount, group.path, true);
      climb(mount + "/unified", group.path, true);
    } else if (std::ranges::count(words_between(group.controllers, ","), controller) > 0) {
      climb(mount + "/" + controller, group.path, false);
      climb(mount + "/" + group.controllers, group.path, false);
    }
  }
}

/// A malformed file is named while there is no value.
template <class T>
void note_malformed(Limit<T>& limit, const std::string& file) {
  if (!limit.value) limit.source = fmt::format("{} is malformed", file);
}

/// A number of a file of lines "key number", 0 when the file or the key is absent: nothing is then
/// known to be reclaimable, or to be throttled.
std::int64_t stat_of(const std::string& file, std::string_view key) {
  const std::string text = read_text(file).value_or(std::string());
  for (const std::string_view line : words_between(text, "\n")) {
    const auto parts = words_between(line);
    if (parts.size() == 2 && parts[0] == key) return parse_integer(parts[1]).value_or(0);
  }
  return 0;
}

void read_cpu(CgroupLimits& limits, const std::string& folder, bool version_2) {
  Limit<double>& limit = limits.cpus;
  const std::string file = folder + (version_2 ? "/cpu.max" : "/cpu.cfs_quota_us");
  const auto text = read_text(file);
  if (!text) return;
  const auto quota =
      version_2 ? parse_cpu_max(*text)
                : parse_cfs_quota(*text,
                                  read_text(folder + "/cpu.cfs_period_us").value_or(std::string()));
  if (quota) {
    tighten(limit, quota, file);
    if (limit.source != file) return;
    limits.cpu_periods = stat_of(folder + "/cpu.stat", "nr_periods");
    limits.throttled_periods = stat_of(folder + "/cpu.stat", "nr_throttled");
  } else {
    note_malformed(limit, file);
  }
}

void read_memory(CgroupLimits& limits, const std::string& folder, bool version_2) {
  const std::string file = folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes");
  const auto text = read_text(file);
  if (!text) return;
  const auto limit = parse_memory_limit(*text);
  if (!limit) {
    note_malformed(limits.memory, file);
    return;
  }
  tighten(limits.memory, limit, file);
  const std::string usage_file =
      folder + (version_2 ? "/memory.current" : "/memory.usage_in_bytes");
  const auto usage = parse_integer(read_text(usage_file).value_or(std::string()));
  if (limit->value() == unlimited || !usage) return;
  const std::int64_t reclaimable =
      stat_of(folder + "/memory.stat", version_2 ? "inactive_file" : "total_inactive_file");
  const double used = static_cast<double>(*usage - std::min(*usage, reclaimable));
  tighten(limits.memory_remaining,
          std::optional(Bytes(std::max(0.0, limit->value() - used))),
          fmt::format("{} less what is used and cannot be reclaimed", file));
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

Limit<Bytes> memory_left(const std::optional<Bytes>& available,
                         const Limit<Bytes>& cgroup_remaining,
                         const std::optional<Bytes>& address_space) {
  Limit<Bytes> left{std::nullopt, "/proc/meminfo has no MemAvailable and no limit is set"};
  tighten(left, available, "/proc/meminfo MemAvailable");
  tighten(left, cgroup_remaining.value, cgroup_remaining.source);
  tighten(left, address_space, "RLIMIT_AS or RLIMIT_DATA less what is mapped (ulimit -v, -d)");
  return left;
}

WorkerLimit current_worker_limit() {
  return worker_limit(read_topology(), affinity_cpus(), read_cgroup_limits(own_cgroups()).cpus);
}

Limit<Bytes> current_memory_left() {
  return memory_left(available_memory(read_meminfo()),
                     read_cgroup_limits(own_cgroups()).memory_remaining,
                     limited_address_space());
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const auto parts = words_between(text);
  if (parts.size() != 2) return std::nullopt;
  return parse_cfs_quota(parts[0] == "max" ? "-1" : parts[0], parts[1]);
}

std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period) {
  const auto quota_us = parse_integer(quota);
  const auto period_us = parse_integer(period);
  if (!quota_us || !period_us || *period_us <= 0 || *quota_us < -1 || *quota_us == 0) {
    return std::nullopt;
  }
  if (*quota_us == -1) return unlimited;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<Bytes> parse_memory_limit(std::string_view text) {
  if (trimmed(text) == "max") return Bytes(unlimited);
  const auto bytes = parse_integer(text);
  if (!bytes || *bytes < 0) return std::nullopt;
  if (*bytes >= unlimited_memory) return Bytes(unlimited);
  return Bytes(static_cast<double>(*bytes));
}

std::vector<CgroupMembership> parse_cgroup_membership(std::string_view text) {
  std::vector<CgroupMembership> groups;
  for (const std::string_view line : words_between(text, "\n")) {
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view path = line.substr(second + 1);
    // ".." marks a group outside the namespace's root; nothing of it can be read here.
    if (path.empty() || path.front() != '/' || path.find("..") != std::string_view::npos) continue;
    groups.push_back({std::string(line.substr(first + 1, second - first - 1)), std::string(path)});
  }
  return groups;
}

std::string own_cgroups() {
  return read_text("/proc/self/cgroup").value_or(std::string());
}

CgroupLimits read_cgroup_limits(std::string_view membership, const std::string& mount) {
  CgroupLimits limits{{std::nullopt, "no CPU quota in any control group of this process"},
                      {std::nullopt, "no memory limit in any control group of this process"},
                      {std::nullopt, "no memory limit in any control group of this process"}};
  visit_folders(membership, mount, "cpu", [&](const std::string& folder, bool version_2) {
    read_cpu(limits, folder, version_2);
  });
  visit_folders(membership, mount, "memory", [&](const std::string& folder, bool version_2) {
    read_memory(limits, folder, version_2);
  });
  return limits;
}
}  // namespace scaleworth::probes::host
