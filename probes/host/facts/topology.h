// SPDX-License-Identifier: Apache-2.0
/// Sockets, cores, NUMA nodes and caches of this node, by hwloc.
#pragma once

#include "src/core/outcome.h"
#include "src/core/units.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes::host {

struct Cache {
  int level = 1;
  std::string kind;  // "data", "instruction", "unified"
  Bytes size;
  std::optional<int> line_bytes;
  int shared_by_cpus = 1;  // logical CPUs below one of them
  int count = 1;           // of this size and sharing on the machine
};

struct Topology {
  int sockets = 0;  // counts of 0: hwloc does not see objects of this kind here
  int cores = 0;
  int logical_cpus = 0;
  int numa_nodes = 0;
  /// Cores with at least one logical CPU in this process's affinity mask.
  int usable_cores = 0;
  std::vector<Cache> caches;  // by level; data before instruction
};

/// Skipped when hwloc cannot look (no /sys, no memory).
Outcome<Topology> read_topology();

/// The cache of the highest level that holds data; absent when there is none.
std::optional<Cache> last_data_cache(const std::vector<Cache>& caches);

}  // namespace scaleworth::probes::host
