// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/batching.h"
#include "probes/gpu/roofline.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace scaleworth::probes {
namespace {
// Contexts and libraries take some per cent, presumed. For estimates only.
constexpr double presumed_available_share = 0.9;

/// `available(index)` is absent for a GPU that is lost; where all of a kind are, it is the first
/// that is asked in full, and says so.
template <class Available>
std::vector<PlannedDevice> plan_devices(const DeviceSetting& setting, const Available& available) {
  std::vector<PlannedDevice> planned;
  const auto has_full = [&](const PlannedDevice& one) {
    return std::ranges::any_of(planned, [&](const PlannedDevice& other) {
      return other.part == Part::full && kind_of(other.description) == kind_of(one.description);
    });
  };
  for (std::size_t i = 0; i < setting.devices.size(); ++i) {
    const DeviceDescription& description = setting.devices[i];
    const std::optional<Bytes> memory = available(i);
    PlannedDevice one{description,
                      setting.suite,
                      Part::glance,
                      memory.value_or(presumed_available_share * description.memory)};
    if (memory && !has_full(one)) one.part = Part::full;
    planned.push_back(one);
  }
  for (PlannedDevice& one : planned) {
    if (!has_full(one)) one.part = Part::full;
  }
  return planned;
}

constexpr double granule = 3.0 * 4096.0;  // whole pages for one, two and three arrays
// Of L2, presumed: smaller sets give each multiprocessor little, and show its L1.
constexpr double smallest_cache_share = 1.0 / 32.0;
constexpr double sweep_cache_multiple = 4.0;  // at most a quarter of a pass can then hit
// Where L2 is small: launches are below 1 % there.
constexpr double least_sweep_end = 1024.0 * mebibyte;
constexpr double sweep_memory_share = 0.5;  // a sweep beyond shows the same
constexpr double whole_memory_share = 0.9;  // of the available: all banks, and room for the library
constexpr double presumed_rate = 1e12;      // B/s, for estimates: between GDDR and HBM3
constexpr std::array kernels{
    MemoryKernel::read, MemoryKernel::write, MemoryKernel::copy, MemoryKernel::triad};
// Within 6 % of the fastest in memory and 11 % in the cache of an H200 and an H100
// (docs/measurements); it only stands where no variant was measured.
constexpr StreamVariant usual{StreamGrid::persistent, 512, 4, false};

Bytes whole_granules(double bytes) {
  return Bytes(std::max(1.0, std::floor(bytes / granule)) * granule);
}

double wished_largest(const DeviceDescription& description) {
  return std::max(sweep_cache_multiple * description.l2_cache.value(), least_sweep_end);
}

std::vector<StreamVariant> variants_of(Suite suite, bool streaming) {
  if (suite == Suite::quick && streaming) {
    // The usual one and its neighbours: blocks twice and half as large, accesses twice as many.
    return {{StreamGrid::persistent, 512, 4, true}, {StreamGrid::one_shot, 512, 4, true}};
  }
  if (suite == Suite::quick) {
    return {usual,
            {StreamGrid::persistent, 1024, 4, false},
            {StreamGrid::persistent, 512, 8, false},
            {StreamGrid::one_shot, 256, 4, false},
            {StreamGrid::one_shot, 512, 4, false}};
  }
  std::vector<StreamVariant> variants;
  for (const StreamGrid grid : {StreamGrid::persistent, StreamGrid::one_shot}) {
    // Which is fastest depends on kernel and GPU.
    for (const int threads : {256, 512, 1024}) {
      for (const int unroll : {2, 4, 8}) variants.push_back({grid, threads, unroll, streaming});
    }
  }
  return variants;
}

}  // namespace

std::string kind_of(const DeviceDescription& description) {
  return fmt::format("{}, {} multiprocessors, {:.0f} bytes",
                     description.name,
                     description.multiprocessors,
                     description.memory.value());
}

std::vector<PlannedDevice> planned_devices(const DeviceSetting& setting) {
  return plan_devices(setting, [&](std::size_t i) {
    return std::optional(presumed_available_share * setting.devices[i].memory);
  });
}

std::vector<PlannedDevice> planned_devices(const Devices& devices, const DeviceSetting& setting) {
  DeviceSetting seen = setting;
  seen.devices.clear();
  for (const auto& device : devices) seen.devices.push_back(device->description());
  return plan_devices(seen, [&](std::size_t i) -> std::optional<Bytes> {
    try {
      return devices[i]->available_memory();
    } catch (const ProbeFailure&) {
      return std::nullopt;
    }
  });
}

void warn_of_glance(const std::vector<PlannedDevice>& planned,
                    const std::string& glance,
                    Recorder& recorder) {
  std::vector<Finding> full;
  for (const PlannedDevice& device : planned)
    if (device.part != Part::glance)
      full.emplace_back(FindingId::number, device.description.ordinal);
  const std::size_t others = planned.size() - full.size();
  if (others == 0) return;
  const Finding rest =
      others == 1 ? FindingId::the_other_one : Finding(FindingId::the_others, others);
  recorder.warn(glance.empty() ? Finding(FindingId::others_not_measured, full, rest)
                               : Finding(FindingId::others_measured_shortly, full, rest, glance));
}

Seconds device_setting_time(const Pace& pace, Seconds operation) {
  const BatchOptions batching;
  const Seconds queue = static_cast<double>(batching.maximum_repetitions) * operation;
  const Seconds sample =
      std::max(operation, std::min({batching.batch, queue, fitting_sample(target_of(pace))}));
  // Calibration runs ever longer batches: presumed, all together some third of the last.
  const Seconds around = 1.3 * sample + std::max(batching.warm_up, operation);
  // The stopping rule gives the minimum up at the budget, the fewest samples at four times that.
  // A batch with gaps is taken again.
  const Seconds wanted = 1.1 * static_cast<double>(pace.minimum_samples) * sample;
  const Seconds fewest = static_cast<double>(fewest_samples) * sample;
  const Seconds samples = std::max(fewest, std::min(wanted, pace.budget + operation));
  return around + std::min(samples, 4.0 * pace.budget + operation);
}

Bytes available_or(const Device& device, Bytes presumed) {
  try {
    return device.available_memory();
  } catch (const ProbeFailure&) {
    return presumed;
  }
}

std::string size_name(Bytes size) {
  const double kibibytes = size.value() / kibibyte;
  if (kibibytes < kibibyte) return fmt::format("{:.4g} KiB", kibibytes);
  if (kibibytes < kibibyte * kibibyte) return fmt::format("{:.4g} MiB", kibibytes / kibibyte);
  return fmt::format("{:.4g} GiB", kibibytes / kibibyte / kibibyte);
}

std::vector<NumberFormat> device_compute_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  std::vector<NumberFormat> formats{
      NumberFormat::fp32, NumberFormat::fp64, NumberFormat::fp16, NumberFormat::bf16};
  std::erase_if(formats, [&](NumberFormat format) {
    return !has_format(format, planned.description.compute_capability);
  });
  return formats;
}

std::vector<LaunchKind> device_launch_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  return {LaunchKind::empty_kernel, LaunchKind::graph_node, LaunchKind::synchronise};
}

std::vector<Bytes> device_sets(const PlannedDevice& planned) {
  const double factor = planned.suite == Suite::quick ? 2.0 : std::sqrt(2.0);
  const Bytes largest = whole_granules(std::min(wished_largest(planned.description),
                                                sweep_memory_share * planned.available.value()));
  return geometric(std::max(mebibyte, smallest_cache_share * planned.description.l2_cache.value()),
                   largest.value(),
                   factor,
                   &whole_granules);
}

std::optional<Finding> device_memory_shortage(const PlannedDevice& planned) {
  const Bytes wished(wished_largest(planned.description));
  const Bytes largest = device_sets(planned).back();
  if (largest >= whole_granules(wished.value())) return std::nullopt;
  return Finding(FindingId::gpu_sets_end_early,
                 planned.description.ordinal,
                 size_name(largest),
                 size_name(wished),
                 size_name(planned.available));
}

Region region_of(const PlannedDevice& planned, Bytes working_set) {
  return working_set <= planned.description.l2_cache ? Region::cache : Region::memory;
}

std::vector<StreamWork> pilot_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  const Bytes far = device_sets(planned).back();
  const Bytes near =
      std::min(far, whole_granules(std::max(mebibyte, planned.description.l2_cache.value() / 4.0)));
  std::vector<StreamWork> works;
  for (const MemoryKernel kernel : kernels) {
    for (const bool streaming : {false, true}) {
      for (const StreamVariant& variant : variants_of(planned.suite, streaming)) {
        works.push_back({kernel, far, variant});
        if (!streaming) works.push_back({kernel, near, variant});
      }
    }
  }
  in_random_order(works);
  return works;
}

void VariantChoice::saw(const StreamWork& work, Region region, BytesPerSecond rate) {
  const auto [fastest, first] = fastest_.try_emplace({work.kernel, region, work.variant.streaming},
                                                     Fastest{work.variant, rate});
  if (!first && rate > fastest->second.rate) fastest->second = {work.variant, rate};
}

StreamVariant VariantChoice::best(MemoryKernel kernel, Region region, bool streaming) const {
  const auto fastest = fastest_.find({kernel, region, streaming});
  if (fastest != fastest_.end()) return fastest->second.variant;
  StreamVariant variant = usual;
  variant.streaming = streaming;
  return variant;
}

std::vector<StreamWork> sweep_plan(const PlannedDevice& planned, const VariantChoice& choice) {
  if (planned.part == Part::glance) {
    return {{MemoryKernel::read,
             device_sets(planned).back(),
             choice.best(MemoryKernel::read, Region::memory, false)}};
  }
  std::vector<StreamWork> works;
  const std::vector<Bytes> sets = device_sets(planned);
  for (const Bytes set : sets) {
    const Region region = region_of(planned, set);
    const bool streaming =
        region == Region::memory && (planned.suite == Suite::standard || set == sets.back());
    for (const MemoryKernel kernel : kernels) {
      works.push_back({kernel, set, choice.best(kernel, region, false)});
      if (!streaming) continue;
      works.push_back({kernel, set, choice.best(kernel, region, true)});
    }
  }
  in_random_order(works);
  return works;
}

std::optional<StreamWork> whole_memory_work(const PlannedDevice& planned,
                                            const VariantChoice& choice) {
  if (planned.suite == Suite::quick) return std::nullopt;
  return StreamWork{MemoryKernel::read,
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
