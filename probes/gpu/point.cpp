// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/point.h"

#include "src/core/run/fields.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// A mask of NVML has fewer than 53 bits in use: exact as a double. A refused one is NaN.
std::vector<double> masks_of(const Telemetry& telemetry) {
  std::vector<double> masks;
  for (const std::int64_t mask : telemetry.clock_event_reasons) {
    masks.push_back(mask < 0 ? std::numeric_limits<double>::quiet_NaN()
                             : static_cast<double>(mask));
  }
  return masks;
}

std::map<std::string, std::vector<double>> readings_of(const Telemetry& telemetry) {
  std::map<std::string, std::vector<double>> readings{
      {fields::telemetry_time_s, telemetry.time_s},
      {fields::telemetry_sm_clock_hz, telemetry.sm_clock_hz},
      {fields::telemetry_memory_clock_hz, telemetry.memory_clock_hz},
      {fields::telemetry_power_w, telemetry.power_w},
      {fields::telemetry_temperature_c, telemetry.temperature_c},
      {fields::telemetry_clock_event_reasons, masks_of(telemetry)}};
  std::erase_if(readings, [](const auto& entry) { return entry.second.empty(); });
  return readings;
}

bool is_whole(const std::map<std::string, std::vector<double>>& readings, std::size_t index) {
  return std::ranges::all_of(readings, [&](const auto& entry) {
    return index < entry.second.size() && std::isfinite(entry.second[index]);
  });
}

void add_telemetry(const Telemetry& telemetry, Point& point) {
  const auto readings = readings_of(telemetry);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < telemetry.time_s.size(); ++i) {
    if (!is_whole(readings, i)) {
      ++left_out;
      continue;
    }
    for (const auto& [name, values] : readings) point.samples[name].push_back(values[i]);
  }
  if (left_out > 0) {
    point.warnings.push_back(
        fmt::format("{} of {} telemetry readings left out: the driver refused "
                    "a part of them",
                    left_out,
                    telemetry.time_s.size()));
  }
  if (!telemetry.missing.empty() && !telemetry.time_s.empty()) {
    point.warnings.push_back("telemetry ended early: " + telemetry.missing);
  }
  if (telemetry.pcie_generation && telemetry.pcie_width) {
    point.samples[fields::telemetry_pcie_generation] = {double(*telemetry.pcie_generation)};
    point.samples[fields::telemetry_pcie_width] = {double(*telemetry.pcie_width)};
  }
  if (telemetry.energy_j) point.samples[fields::telemetry_energy_j] = {*telemetry.energy_j};
  if (telemetry.window_s > 0.0) point.samples[fields::telemetry_window_s] = {telemetry.window_s};
}

}  // namespace

Point device_point(int ordinal,
                   std::map<std::string, Value> parameters,
                   const DeviceMeasured& measured) {
  Point point;
  point.parameters = std::move(parameters);
  point.parameters[fields::gpu] = std::int64_t{ordinal};
  if (measured.flops.value() > 0.0) point.amounts[fields::flops] = measured.flops.value();
  if (measured.bytes.value() > 0.0) point.amounts[fields::bytes] = measured.bytes.value();
  point.samples[fields::wall_s] = measured.time_s;
  if (!measured.clock_hz.empty()) point.samples[fields::clock_hz] = measured.clock_hz;
  point.stop_reason = measured.stop_reason;
  point.warnings = measured.warnings;
  add_telemetry(measured.telemetry, point);
  return point;
}

}  // namespace scaleworth::probes
