// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/point.h"
#include "probes/gpu/roofline/latency_plan.h"
#include "probes/gpu/roofline/probes.h"
#include "probes/gpu/roofline/walk.h"
#include "probes/order.h"
#include "src/core/run/fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double kibibyte = 1024.0;
constexpr double mebibyte = 1024.0 * kibibyte;
constexpr Bytes line{128.0};
constexpr Bytes page{2.0 * mebibyte};
constexpr double smallest_set = 4.0 * kibibyte;
constexpr double cache_multiple = 4.0;
constexpr double least_largest_set = 256.0 * mebibyte;
constexpr double line_memory_share = 0.25;
constexpr double smallest_paged_set = 64.0 * mebibyte;
constexpr double paged_memory_share = 0.5;

/// Sets from `smallest` by `factor` to `largest`, in whole strides.
std::vector<ChaseWork> chases(double smallest, double largest, double factor, Bytes stride) {
  const auto whole = [&](double set) {
    return Bytes(std::max(2.0, std::floor(set / stride.value())) * stride.value());
  };
  std::vector<ChaseWork> works;
  for (double set = smallest; set * std::sqrt(factor) < largest; set *= factor) {
    works.push_back({whole(set), stride});
  }
  works.push_back({whole(largest), stride});
  return works;
}

}  // namespace

Pace device_latency_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.2), 7} : Pace{Seconds(0.26), 9};
}

std::vector<ChaseWork> chase_plan(const PlannedDevice& planned) {
  const double wished =
      std::max(cache_multiple * planned.description.l2_cache.value(), least_largest_set);
  const double largest = std::min(wished, line_memory_share * planned.available.value());
  const double factor = planned.suite == Suite::quick ? 2.0 : 1.25;
  std::vector<ChaseWork> works = chases(smallest_set, largest, factor, line);
  if (planned.part == Part::glance) return {works.back()};
  const double paged = paged_memory_share * planned.available.value();
  if (planned.suite == Suite::standard && paged >= smallest_paged_set) {
    for (const ChaseWork& work : chases(smallest_paged_set, paged, 2.0, page)) {
      works.push_back(work);
    }
  }
  in_random_order(works);
  return works;
}

Seconds chase_preparation(const ChaseWork& work) {
  constexpr double node_s = 20e-9;  // a swap at a random place
  return Seconds(work.working_set / work.stride * node_s);
}

void measure_device_latency(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  const auto planned = planned_devices(devices, setting);
  warn_of_glance(planned, "the latency of memory", recorder);
  std::vector<std::vector<ChaseWork>> plans;
  for (const PlannedDevice& device : planned) plans.push_back(chase_plan(device));
  const Target target = target_of(device_latency_pace(setting.suite));
  walk_plans(
      devices,
      plans,
      recorder,
      [](const ChaseWork& work) {
        return fmt::format(
            "loads within {}, one per {}", size_name(work.working_set), size_name(work.stride));
      },
      [&](Device& device, const ChaseWork& work) {
        Point point = device_point(
            device.description().ordinal,
            {{fields::working_set_bytes, std::int64_t{std::llround(work.working_set.value())}},
             {fields::stride_bytes, std::int64_t{std::llround(work.stride.value())}}},
            device.time_chase(work, target));
        point.amounts[fields::accesses] = 1.0;
        return point;
      });
}

Seconds estimate_device_latency(const DeviceSetting& setting) {
  Seconds total{};
  for (const PlannedDevice& planned : planned_devices(setting)) {
    for (const ChaseWork& work : chase_plan(planned)) {
      total += device_setting_time(device_latency_pace(setting.suite)) + chase_preparation(work);
    }
  }
  return total;
}

}  // namespace scaleworth::probes
