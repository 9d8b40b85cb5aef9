// SPDX-License-Identifier: Apache-2.0
#include "probes/host/host_facts.h"

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>

#include <hwloc.h>

namespace scaleworth::probes::host {
namespace {
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

constexpr std::array cache_types{HWLOC_OBJ_L1CACHE,
                                 HWLOC_OBJ_L1ICACHE,
                                 HWLOC_OBJ_L2CACHE,
                                 HWLOC_OBJ_L2ICACHE,
                                 HWLOC_OBJ_L3CACHE,
                                 HWLOC_OBJ_L3ICACHE,
                                 HWLOC_OBJ_L4CACHE,
                                 HWLOC_OBJ_L5CACHE};

const char* kind_name(hwloc_obj_cache_type_t type) {
  if (type == HWLOC_OBJ_CACHE_DATA) return "data";
  return type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction" : "unified";
}

/// The whole machine, also what a cpuset forbids: limits are facts of their own.
Handle load() {
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
      kind_name(attributes.type),
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

Outcome<Topology> read_topology() {
  const Handle topology = load();
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
  std::optional<Cache> last;
  for (const Cache& cache : caches) {
    if (cache.kind != "instruction" && (!last || cache.level > last->level)) last = cache;
  }
  return last;
}
}  // namespace scaleworth::probes::host
