// SPDX-License-Identifier: Apache-2.0
/// Which streams are asked of a GPU's memory, and by which kernels: pilots choose, the sweep uses
/// what they chose.
#pragma once

#include "probes/gpu/roofline/plan.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::probes {

Pace pilot_pace(Suite suite);
Pace device_memory_pace(Suite suite);

/// Whether the arrays of a sweep lie in the L2 cache or beyond it: the best kernel differs.
enum class Region { cache, memory };

/// Working sets of scope device, all arrays together, ascending: from the larger of 1 MiB and a
/// 32nd of the L2 cache to the larger of 1 GiB and 4 times the L2 cache, or half of the available
/// memory where that is less. Multiples of 12 KiB: whole pages for one, two and three arrays.
std::vector<Bytes> device_sets(const PlannedDevice& planned);
/// Says that the sets end early because of memory; absent when they do not.
std::optional<std::string> device_memory_shortage(const PlannedDevice& planned);
/// A set that fits the L2 cache whole is in the region of the cache.
Region region_of(const PlannedDevice& planned, Bytes working_set);

/// Every kernel by every variant of the suite at one size per region, a quarter of the L2 cache
/// and the largest of the sweep; streaming variants in memory only. In random order; nothing for a
/// glance, or when another GPU of the kind has been tried.
std::vector<StreamWork> pilot_plan(const PlannedDevice& planned);

/// The fastest variants seen. Before anything was seen: 512 threads, 4 accesses at once.
class VariantChoice {
 public:
  void saw(const StreamWork& work, Region region, BytesPerSecond rate);
  StreamVariant best(MemoryKernel kernel, Region region, bool streaming) const;

 private:
  struct Seen {
    StreamWork work;
    Region region;
    BytesPerSecond rate;
  };
  std::vector<Seen> seen_;
};

/// Every kernel over every set, in random order, by the region's best variant with default caching,
/// and in memory by the best streaming one (quick suite: at the largest set only); then read by
/// single multiprocessors around the size of their L1 and of 32 KiB of shared memory. A glance is
/// the read of the largest set.
std::vector<StreamWork> sweep_plan(const PlannedDevice& planned, const VariantChoice& choice);

/// Read of nine tenths of what is available, in which slow or remapped regions show; standard suite
/// only.
std::optional<StreamWork> whole_memory_work(const PlannedDevice& planned,
                                            const VariantChoice& choice);

/// What the memory's bus moves by its clock and width, two transfers a clock; 1 TB/s where the
/// driver does not tell. For estimates only.
BytesPerSecond presumed_memory_rate(const DeviceDescription& description);

}  // namespace scaleworth::probes
