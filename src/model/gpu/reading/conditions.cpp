// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/reading/conditions.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"
#include "src/model/gpu/reading/point_reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace scaleworth::model {
namespace {

constexpr double least_energy_window_s = 2.0;
constexpr double largest_mask = 0x1p63;

/// The readings that the driver gave.
std::vector<double> readings(const Point& point, const char* name) {
  std::vector<double> given;
  const auto found = point.samples.find(name);
  if (found == point.samples.end()) return given;
  for (const double value : found->second) {
    if (std::isfinite(value)) given.push_back(value);
  }
  return given;
}

/// Reasons of NVML that hold a clock down under load, in the words of the report.
/// Source: NVML API reference, nvmlClocksEventReasons.
struct Reason {
  std::uint64_t bit;
  const char* name;
};
constexpr std::array slowdown_reasons{Reason{0x2, "application clocks"},
                                      Reason{0x4, "power cap"},
                                      Reason{0x8, "hardware slowdown"},
                                      Reason{0x10, "sync boost"},
                                      Reason{0x20, "thermal, software"},
                                      Reason{0x40, "thermal, hardware"},
                                      Reason{0x80, "power brake"}};

std::vector<std::pair<std::string, double>> reasons_of(const Point& point) {
  const std::vector<double> masks = readings(point, fields::telemetry_clock_event_reasons);
  std::vector<std::pair<std::string, double>> shares;
  for (const Reason& reason : slowdown_reasons) {
    const auto times = std::count_if(masks.begin(), masks.end(), [&](double mask) {
      return mask >= 0.0 && mask < largest_mask &&
             (static_cast<std::uint64_t>(mask) & reason.bit) != 0;
    });
    if (times > 0) {
      shares.emplace_back(reason.name,
                          static_cast<double>(times) / static_cast<double>(masks.size()));
    }
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return shares;
}

}  // namespace

GpuConditions conditions_of(const Point& point) {
  GpuConditions conditions;
  conditions.clock_hz = counted_clock(point);
  if (!conditions.clock_hz) {
    conditions.clock_hz = median(readings(point, fields::telemetry_sm_clock_hz));
  }
  conditions.power_w = median(readings(point, fields::telemetry_power_w));
  const std::vector<double> energy = readings(point, fields::telemetry_energy_j);
  const std::vector<double> window = readings(point, fields::telemetry_window_s);
  if (!energy.empty() && !window.empty() && window.front() >= least_energy_window_s) {
    conditions.power_w = energy.front() / window.front();
    conditions.power_from_energy = true;
  }
  conditions.temperature_c = median(readings(point, fields::telemetry_temperature_c));
  conditions.slowdown_reasons = reasons_of(point);
  return conditions;
}

double share_of_reason(const GpuConditions& conditions, const std::string& reason) {
  for (const auto& [name, share] : conditions.slowdown_reasons) {
    if (name == reason) return share;
  }
  return 0.0;
}

}  // namespace scaleworth::model
