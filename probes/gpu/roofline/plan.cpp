// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline/plan.h"

#include "probes/gpu/batching.h"
#include "src/core/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double kibibyte = 1024.0;
constexpr double presumed_available_share = 0.9;

}  // namespace

std::string kind_of(const DeviceDescription& description) {
  return fmt::format("{}, {} multiprocessors, {:.0f} bytes",
                     description.name,
                     description.multiprocessors,
                     description.memory.value());
}

std::vector<PlannedDevice> planned_devices(const DeviceSetting& setting) {
  std::vector<PlannedDevice> planned;
  for (const DeviceDescription& description : setting.devices) {
    const bool full = setting.suite == Suite::standard || planned.empty();
    const bool first = std::ranges::none_of(planned, [&](const PlannedDevice& before) {
      return kind_of(before.description) == kind_of(description);
    });
    planned.push_back({description,
                       setting.suite,
                       full ? Part::full : Part::glance,
                       first,
                       presumed_available_share * description.memory});
  }
  return planned;
}

std::vector<PlannedDevice> planned_devices(const Devices& devices, const DeviceSetting& setting) {
  DeviceSetting seen = setting;
  seen.devices.clear();
  for (const auto& device : devices) seen.devices.push_back(device->description());
  std::vector<PlannedDevice> planned = planned_devices(seen);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    planned[i].available = available_or(*devices[i], planned[i].available);
  }
  return planned;
}

void warn_of_glance(const std::vector<PlannedDevice>& planned,
                    const std::string& glance,
                    Recorder& recorder) {
  if (planned.size() < 2 || planned.back().part == Part::full) return;
  recorder.warn(
      fmt::format("GPU {} was measured in full, the other {} {}: quick suite; --suite "
                  "standard measures all of them",
                  planned.front().description.ordinal,
                  planned.size() - 1,
                  glance.empty() ? "not at all" : "by " + glance));
}

Seconds device_setting_time(const Pace& pace, Seconds operation) {
  const BatchOptions batching;
  const Seconds queue = static_cast<double>(batching.maximum_repetitions) * operation;
  const Seconds sample = std::max(operation, std::min(batching.batch, queue));
  const Seconds around = 1.3 * sample + std::max(batching.warm_up, operation);
  // The stopping rule gives the minimum up at four times the budget.
  const Seconds samples = 1.1 * static_cast<double>(pace.minimum_samples) * sample;
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

}  // namespace scaleworth::probes
