// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/roofline/compute_plan.h"

#include "probes/order.h"

#include <algorithm>
#include <cmath>

namespace scaleworth::probes {
namespace {

constexpr int first_fp64_tensor_capability = 80;
constexpr int longest_chain = 512;
constexpr double ladder_cache_multiple = 4.0;
constexpr double smallest_ladder_set = 64.0 * 1024 * 1024;
constexpr double ladder_memory_share = 0.25;
constexpr double ladder_granule = 4096.0;

bool has_tensor_product(NumberFormat format, int capability) {
  if (format == NumberFormat::fp64) return capability >= first_fp64_tensor_capability;
  // Between them mma.sync in fp8 is made of fp16 products.
  if (format == NumberFormat::fp8_e4m3) return capability == 89 || capability >= 120;
  return has_format(format, capability);
}

Bytes ladder_set(const PlannedDevice& planned) {
  const double wished =
      std::max(ladder_cache_multiple * planned.description.l2_cache.value(), smallest_ladder_set);
  const double fitting = std::min(wished, ladder_memory_share * planned.available.value());
  return Bytes(std::max(1.0, std::floor(fitting / ladder_granule)) * ladder_granule);
}

}  // namespace

Pace device_compute_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.4), 14} : Pace{Seconds(1.2), 40};
}

Pace device_intensity_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.2), 7} : Pace{Seconds(0.45), 15};
}

Pace device_launch_pace(Suite suite) {
  return suite == Suite::quick ? Pace{Seconds(0.2), 9} : Pace{Seconds(0.6), 20};
}

std::vector<DeviceFma> device_compute_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {{NumberFormat::fp32, false}};
  const int capability = planned.description.compute_capability;
  std::vector<DeviceFma> works;
  for (const auto format :
       {NumberFormat::fp32, NumberFormat::fp64, NumberFormat::fp16, NumberFormat::bf16}) {
    if (has_format(format, capability)) works.push_back({format, false});
  }
  for (const auto format : {NumberFormat::fp16,
                            NumberFormat::bf16,
                            NumberFormat::tf32,
                            NumberFormat::fp64,
                            NumberFormat::int8,
                            NumberFormat::fp8_e4m3}) {
    if (has_tensor_product(format, capability)) works.push_back({format, true});
  }
  return works;
}

std::vector<LadderWork> device_intensity_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  std::vector<NumberFormat> formats{NumberFormat::fp32, NumberFormat::fp64};
  if (planned.suite == Suite::standard) {
    for (const auto format : {NumberFormat::fp16, NumberFormat::bf16}) {
      if (has_format(format, planned.description.compute_capability)) formats.push_back(format);
    }
  }
  std::vector<LadderWork> works;
  for (const NumberFormat format : formats) {
    std::vector<LadderWork> ladder;
    for (int fmas = 1; fmas <= longest_chain; fmas *= 2) {
      ladder.push_back({format, ladder_set(planned), fmas});
    }
    in_random_order(ladder);
    works.insert(works.end(), ladder.begin(), ladder.end());
  }
  return works;
}

std::vector<LaunchKind> device_launch_plan(const PlannedDevice& planned) {
  if (planned.part == Part::glance) return {};
  return {LaunchKind::empty_kernel, LaunchKind::graph_node, LaunchKind::synchronise};
}

}  // namespace scaleworth::probes
