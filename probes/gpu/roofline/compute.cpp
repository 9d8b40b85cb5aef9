// SPDX-License-Identifier: Apache-2.0
/// The measuring of a GPU's arithmetic and launches.
#include "probes/gpu/point.h"
#include "probes/gpu/roofline/compute_plan.h"
#include "probes/gpu/roofline/probes.h"
#include "probes/gpu/roofline/walk.h"
#include "src/core/run/fields.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

// For estimates.
constexpr Seconds one_kernel{1e-3};
constexpr Seconds one_launch{4e-6};

const char* unit_name(const DeviceFma& work) {
  return work.tensor ? "tensor cores" : "cuda cores";
}

/// plan(one GPU) of every GPU.
template <class Plan>
auto plans_of(const std::vector<PlannedDevice>& planned, const Plan& plan) {
  std::vector<decltype(plan(planned.front()))> plans;
  for (const PlannedDevice& device : planned) plans.push_back(plan(device));
  return plans;
}

template <class Plan>
Seconds time_of(const DeviceSetting& setting,
                const Plan& plan,
                const Pace& pace,
                Seconds operation) {
  std::size_t settings = 0;
  for (const PlannedDevice& device : planned_devices(setting)) settings += plan(device).size();
  return static_cast<double>(settings) * device_setting_time(pace, operation);
}

}  // namespace

void measure_device_compute(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "fp32 on the CUDA cores", recorder);
  const Target target = target_of(device_compute_pace(setting.suite));
  walk_plans(
      devices,
      plans_of(planned, &device_compute_plan),
      recorder,
      [](const DeviceFma& work) {
        return fmt::format("{} on the {}", number_format_name(work.format), unit_name(work));
      },
      [&](Device& device, const DeviceFma& work) {
        return device_point(device.description().ordinal,
                            {{fields::isa, std::string(unit_name(work))},
                             {fields::precision, std::string(number_format_name(work.format))},
                             {fields::workers, std::int64_t{1}}},
                            device.time_fma(work, target));
      });
}

Seconds estimate_device_compute(const DeviceSetting& setting) {
  return time_of(setting, &device_compute_plan, device_compute_pace(setting.suite), one_kernel);
}

void measure_device_intensity(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "", recorder);
  const Target target = target_of(device_intensity_pace(setting.suite));
  walk_plans(
      devices,
      plans_of(planned, &device_intensity_plan),
      recorder,
      [](const LadderWork& work) {
        return fmt::format(
            "{} FMAs per {} element", work.fma_per_element, number_format_name(work.format));
      },
      [&](Device& device, const LadderWork& work) {
        return device_point(
            device.description().ordinal,
            {{fields::precision, std::string(number_format_name(work.format))},
             {fields::workers, std::int64_t{1}},
             {fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}},
             {fields::fma_per_element, std::int64_t{work.fma_per_element}}},
            device.time_ladder(work, target));
      });
}

Seconds estimate_device_intensity(const DeviceSetting& setting) {
  return time_of(setting, &device_intensity_plan, device_intensity_pace(setting.suite), one_kernel);
}

void measure_device_launch(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "", recorder);
  const Target target = target_of(device_launch_pace(setting.suite));
  walk_plans(
      devices,
      plans_of(planned, &device_launch_plan),
      recorder,
      [](LaunchKind kind) { return std::string(launch_kind_name(kind)); },
      [&](Device& device, LaunchKind kind) {
        return device_point(device.description().ordinal,
                            {{fields::launch, std::string(launch_kind_name(kind))}},
                            device.time_launch(kind, target));
      });
}

Seconds estimate_device_launch(const DeviceSetting& setting) {
  return time_of(setting, &device_launch_plan, device_launch_pace(setting.suite), one_launch);
}

}  // namespace scaleworth::probes
