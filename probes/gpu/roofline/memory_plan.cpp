// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline/memory_plan.h"

#include "probes/order.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
constexpr double granule = 3.0 * 4096.0;
constexpr double smallest_cache_share = 1.0 / 32.0;
constexpr double cache_multiple = 4.0;
constexpr double least_largest_set = 1024.0 * mebibyte;
constexpr double sweep_memory_share = 0.5;
constexpr double whole_memory_share = 0.9;
constexpr double presumed_rate = 1e12;
constexpr std::array kernels{
    MemoryKernel::read, MemoryKernel::write, MemoryKernel::copy, MemoryKernel::triad};
constexpr StreamVariant usual{StreamGrid::persistent, 512, 4, false};
constexpr Bytes turn{512.0 * 4.0 * 16.0};  // of a block with the usual variant; fits shared memory

Bytes whole_granules(double bytes) {
  return Bytes(std::max(1.0, std::floor(bytes / granule)) * granule);
}

double wished_largest(const DeviceDescription& description) {
  return std::max(cache_multiple * description.l2_cache.value(), least_largest_set);
}

std::vector<StreamVariant> quick_variants(bool streaming) {
  if (streaming) {
    return {{StreamGrid::persistent, 512, 4, true}, {StreamGrid::one_shot, 512, 4, true}};
  }
  return {usual,
          {StreamGrid::persistent, 1024, 4, false},
          {StreamGrid::persistent, 512, 8, false},
          {StreamGrid::one_shot, 256, 4, false},
          {StreamGrid::one_shot, 512, 4, false}};
}

std::vector<StreamVariant> all_variants(bool streaming) {
  std::vector<StreamVariant> variants;
  for (const StreamGrid grid : {StreamGrid::persistent, StreamGrid::one_shot}) {
    for (const int threads : {256, 512, 1024}) {
      for (const int unroll : {2, 4, 8}) variants.push_back({grid, threads, unroll, streaming});
    }
  }
  return variants;
}

std::vector<StreamVariant> variants_of(Suite suite, bool streaming) {
  return suite == Suite::quick ? quick_variants(streaming) : all_variants(streaming);
}

/// Around the L1 cache, which shares its memory with what a kernel declares as shared.
std::vector<Bytes> multiprocessor_sets(const PlannedDevice& planned) {
  std::vector<double> shares{0.125, 0.25, 0.5, 1.0, 2.0};
  if (planned.suite == Suite::standard) {
    shares = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0, 1.5, 2.0};
  }
  std::vector<Bytes> sets;
  for (const double share : shares) {
    const double wished = share * planned.description.shared_per_multiprocessor.value();
    sets.push_back(std::max(1.0, std::round(wished / turn.value())) * turn);
  }
  // Small memories leave fewer sets.
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

void add_device_scope(const PlannedDevice& planned,
                      const VariantChoice& choice,
                      std::vector<StreamWork>& works) {
  const std::vector<Bytes> sets = device_sets(planned);
  for (const Bytes set : sets) {
    const Region region = region_of(planned, set);
    const bool streaming =
        region == Region::memory && (planned.suite == Suite::standard || set == sets.back());
    for (const MemoryKernel kernel : kernels) {
      works.push_back({kernel, StreamScope::device, set, choice.best(kernel, region, false)});
      if (!streaming) continue;
      works.push_back({kernel, StreamScope::device, set, choice.best(kernel, region, true)});
    }
  }
}

}  // namespace

Pace pilot_pace(Suite /*suite*/) {
  return {Seconds(0.06), 3};
}

Pace device_memory_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.18), 6} : Pace{Seconds(0.35), 12};
}

std::vector<Bytes> device_sets(const PlannedDevice& planned) {
  const double factor = planned.suite == Suite::quick ? 2.0 : std::sqrt(2.0);
  const double cache = planned.description.l2_cache.value();
  const Bytes largest = whole_granules(std::min(wished_largest(planned.description),
                                                sweep_memory_share * planned.available.value()));
  std::vector<Bytes> sets;
  for (double set = std::max(mebibyte, smallest_cache_share * cache);
       set * std::sqrt(factor) < largest.value();
       set *= factor) {
    sets.push_back(whole_granules(set));
  }
  sets.push_back(largest);
  return sets;
}

std::optional<std::string> device_memory_shortage(const PlannedDevice& planned) {
  const Bytes wished(wished_largest(planned.description));
  const Bytes largest = device_sets(planned).back();
  if (largest >= whole_granules(wished.value())) return std::nullopt;
  return fmt::format(
      "GPU {}: working sets end at {} instead of {}: {} are available and half of "
      "them is used",
      planned.description.ordinal,
      size_name(largest),
      size_name(wished),
      size_name(planned.available));
}

Region region_of(const PlannedDevice& planned, Bytes working_set) {
  return working_set <= planned.description.l2_cache ? Region::cache : Region::memory;
}

std::vector<StreamWork> pilot_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance || !planned.first_of_kind) return {};
  const Bytes far = device_sets(planned).back();
  const Bytes near =
      std::min(far, whole_granules(std::max(mebibyte, planned.description.l2_cache.value() / 4.0)));
  std::vector<StreamWork> works;
  for (const MemoryKernel kernel : kernels) {
    for (const bool streaming : {false, true}) {
      for (const StreamVariant& variant : variants_of(planned.suite, streaming)) {
        works.push_back({kernel, StreamScope::device, far, variant});
        if (!streaming) works.push_back({kernel, StreamScope::device, near, variant});
      }
    }
  }
  in_random_order(works);
  return works;
}

void VariantChoice::saw(const StreamWork& work, Region region, BytesPerSecond rate) {
  seen_.push_back({work, region, rate});
}

StreamVariant VariantChoice::best(MemoryKernel kernel, Region region, bool streaming) const {
  const Seen* best = nullptr;
  for (const Seen& candidate : seen_) {
    if (candidate.work.kernel != kernel || candidate.region != region ||
        candidate.work.variant.streaming != streaming) {
      continue;
    }
    if (best == nullptr || candidate.rate > best->rate) best = &candidate;
  }
  if (best != nullptr) return best->work.variant;
  StreamVariant variant = usual;
  variant.streaming = streaming;
  return variant;
}

std::vector<StreamWork> sweep_plan(const PlannedDevice& planned, const VariantChoice& choice) {
  if (planned.part == Part::glance) {
    return {{MemoryKernel::read,
             StreamScope::device,
             device_sets(planned).back(),
             choice.best(MemoryKernel::read, Region::memory, false)}};
  }
  std::vector<StreamWork> works;
  add_device_scope(planned, choice, works);
  for (const Bytes set : multiprocessor_sets(planned)) {
    works.push_back({MemoryKernel::read, StreamScope::multiprocessor, set, usual});
  }
  works.push_back({MemoryKernel::read, StreamScope::shared, turn, usual});
  in_random_order(works);
  return works;
}

std::optional<StreamWork> whole_memory_work(const PlannedDevice& planned,
                                            const VariantChoice& choice) {
  if (planned.suite == Suite::quick) return std::nullopt;
  return StreamWork{MemoryKernel::read,
                    StreamScope::device,
                    whole_granules(whole_memory_share * planned.available.value()),
                    choice.best(MemoryKernel::read, Region::memory, false)};
}

BytesPerSecond presumed_memory_rate(const DeviceDescription& description) {
  if (!description.memory_clock_hz || !description.memory_bus_bits) {
    return BytesPerSecond(presumed_rate);
  }
  return BytesPerSecond(2.0 * *description.memory_clock_hz * *description.memory_bus_bits / 8.0);
}

}  // namespace scaleworth::probes
