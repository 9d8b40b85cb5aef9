// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/reading/point_reading.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"
#include "src/model/roofline/samples.h"

#include <array>
#include <cmath>
#include <vector>

namespace scaleworth::model {
namespace {

constexpr std::array gpu_probes{fields::gpu_compute,
                                fields::gpu_memory,
                                fields::gpu_latency,
                                fields::gpu_intensity,
                                fields::gpu_gemm,
                                fields::gpu_contention,
                                fields::gpu_together,
                                fields::gpu_transfer,
                                fields::gpu_launch};

template <class T>
std::optional<T> parameter_of(const Point& point, const std::string& name) {
  const auto found = point.parameters.find(name);
  if (found == point.parameters.end()) return std::nullopt;
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

std::optional<Estimate<double>> rate_of(const Point& point, const char* what) {
  const auto total = point.amounts.find(what);
  if (total == point.amounts.end() || !(total->second > 0.0)) return std::nullopt;
  const std::vector<double> times = usable_times(point, fields::wall_s);
  if (times.empty()) return std::nullopt;
  const Estimate<double> rate = rate_estimate(total->second, times);
  return std::isfinite(rate.value) ? std::optional(rate) : std::nullopt;
}

}  // namespace

ProbeRecord points_of_gpu(const Run& run, const char* probe, int ordinal) {
  ProbeRecord selected;
  selected.name = probe;
  const ProbeRecord* all = find_probe(run, probe);
  if (all == nullptr) return selected;
  for (const Point& point : all->points) {
    if (integer_parameter(point, fields::gpu) == ordinal) selected.points.push_back(point);
  }
  return selected;
}

std::set<int> measured_gpus(const Run& run) {
  std::set<int> ordinals;
  for (const char* probe : gpu_probes) {
    const ProbeRecord* record = find_probe(run, probe);
    if (record == nullptr) continue;
    for (const Point& point : record->points) {
      ordinals.insert(static_cast<int>(integer_parameter(point, fields::gpu)));
    }
  }
  return ordinals;
}

std::optional<std::string> text_of(const Point& point, const std::string& name) {
  return parameter_of<std::string>(point, name);
}

std::optional<std::int64_t> integer_of(const Point& point, const std::string& name) {
  return parameter_of<std::int64_t>(point, name);
}

bool flag_of(const Point& point, const std::string& name) {
  return parameter_of<bool>(point, name).value_or(false);
}

std::optional<Estimate<FlopPerSecond>> flop_rate_of(const Point& point) {
  const auto rate = rate_of(point, fields::flops);
  if (!rate) return std::nullopt;
  return transform(*rate, [](double value) { return FlopPerSecond(value); });
}

std::optional<Estimate<BytesPerSecond>> byte_rate_of(const Point& point) {
  const auto rate = rate_of(point, fields::bytes);
  if (!rate) return std::nullopt;
  return transform(*rate, [](double value) { return BytesPerSecond(value); });
}

std::optional<double> counted_clock(const Point& point) {
  const auto found = point.samples.find(fields::clock_hz);
  if (found == point.samples.end()) return std::nullopt;
  std::vector<double> clocks;
  for (const double clock : found->second) {
    if (std::isfinite(clock) && clock > 0.0) clocks.push_back(clock);
  }
  return median(clocks);
}

}  // namespace scaleworth::model
