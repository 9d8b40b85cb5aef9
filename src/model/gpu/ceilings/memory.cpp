// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu/ceilings/memory.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"
#include "src/core/statistics/quantile.h"
#include "src/model/gpu/reading/point_reading.h"
#include "src/model/roofline/memory.h"
#include "src/model/roofline/samples.h"

#include <map>
#include <utility>

namespace scaleworth::model {
namespace {

constexpr const char* device_scope = "device";
constexpr const char* multiprocessor_scope = "multiprocessor";
constexpr const char* shared_label = "shared";
constexpr const char* pilot_pass = "pilot";
constexpr std::int64_t page_bytes = 2 << 20;

/// The fastest variant of a kernel at one size.
struct Best {
  Estimate<BytesPerSecond> rate;
  std::vector<double> rates;
  std::string variant;
};
using Curve = std::map<double, Best>;                  // by working set in bytes
using CurveKey = std::pair<std::string, std::string>;  // scope, kernel

std::map<CurveKey, Curve> best_variants(const ProbeRecord& probe) {
  std::map<CurveKey, Curve> curves;
  for (const Point& point : probe.points) {
    // Pilots choose the variant; their few short samples are no measurement.
    if (text_of(point, fields::pass).value_or("") == pilot_pass) continue;
    const auto rate = byte_rate_of(point);
    if (!rate) continue;
    const auto size = static_cast<double>(integer_parameter(point, fields::working_set_bytes));
    Curve& curve =
        curves[{text_parameter(point, fields::scope), text_parameter(point, fields::kernel)}];
    Best& best = curve[size];
    if (best.rates.empty() || rate->value > best.rate.value) {
      best = {*rate,
              rates(amount(point, fields::bytes), usable_times(point, fields::wall_s)),
              text_of(point, fields::variant).value_or("")};
    }
  }
  return curves;
}

std::vector<CacheCapacity> caches_for(const std::string& scope, const GpuIdentity& gpu) {
  std::vector<CacheCapacity> caches;
  if (scope == multiprocessor_scope) {
    if (!gpu.shared_per_multiprocessor) return caches;
    caches.push_back({"L1", *gpu.shared_per_multiprocessor, gpu.multiprocessors});
  }
  if (gpu.l2_cache) caches.push_back({"L2", *gpu.l2_cache, 1});
  return caches;
}

std::vector<CurveSample> samples_of(const Curve& curve) {
  std::vector<CurveSample> samples;
  for (const auto& [size, best] : curve) samples.push_back({Bytes(size), best.rates});
  return samples;
}

MemoryLevel memory_level(const std::string& label, const std::string& kernel, const Level& level) {
  return {label, kernel, 1, level.smallest, level.largest, transform(level.value, [](double rate) {
            return BytesPerSecond(rate);
          })};
}

std::vector<Level> levels_of(const std::string& scope, const Curve& curve, const GpuIdentity& gpu) {
  const std::vector<CurveSample> samples = samples_of(curve);
  if (scope == device_scope) return find_levels(samples, caches_for(scope, gpu), 1);
  const CurveSample& last = samples.back();
  const bool single = samples.size() == 1;
  if (single) {
    return {{scope == multiprocessor_scope ? "L1" : shared_label,
             last.working_set,
             last.working_set,
             median_estimate(last.values)}};
  }
  std::vector<Level> kept;
  if (scope != multiprocessor_scope) {
    // Whatever part of it is used, shared memory is one level.
    for (const Level& level : find_levels(samples, {}, 1)) {
      if (kept.empty() || level.value.value > kept.front().value.value) kept = {level};
    }
    if (!kept.empty()) kept.front().label = shared_label;
    return kept;
  }
  // One multiprocessor's part of L2 or memory, reread by all, is what the device's curve shows too.
  const int workers = gpu.multiprocessors.value_or(1);
  for (const Level& level : find_levels(samples, caches_for(scope, gpu), workers)) {
    if (level.label == "L1" || level.label == "level 1") kept.push_back(level);
  }
  return kept;
}

std::optional<Estimate<double>> of_datasheet(const MemoryLevel& level, const GpuIdentity& gpu) {
  if (level.label != "memory" || !gpu.datasheet || !gpu.datasheet->memory_bandwidth) {
    return std::nullopt;
  }
  const BytesPerSecond peak = *gpu.datasheet->memory_bandwidth;
  return transform(level.rate, [=](BytesPerSecond rate) { return rate / peak; });
}

/// Median of the clock over the points whose size lies on the level.
std::optional<double> clock_on(const std::map<double, double>& clocks, Bytes from, Bytes to) {
  std::vector<double> values;
  for (const auto& [size, clock] : clocks) {
    if (size >= from.value() && size <= to.value()) values.push_back(clock);
  }
  return median(values);
}

}  // namespace

void analyse_gpu_memory(const ProbeRecord& probe, GpuResult& result) {
  for (const auto& [key, curve] : best_variants(probe)) {
    const auto& [scope, kernel] = key;
    if (scope == device_scope) {
      for (const auto& [size, best] : curve) {
        result.roofline.memory.push_back({kernel, false, 1, Bytes(size), best.rate, best.rate});
      }
    }
    for (const Level& level : levels_of(scope, curve, result.identity)) {
      GpuMemoryLevel found{scope, memory_level(level.label, kernel, level), "", std::nullopt};
      found.variant = curve.at(level.largest.value()).variant;
      if (scope == device_scope) found.of_datasheet = of_datasheet(found.level, result.identity);
      result.roofline.memory_levels.push_back(found.level);
      result.memory_levels.push_back(std::move(found));
    }
  }
}

void analyse_gpu_latency(const ProbeRecord& probe, GpuResult& result) {
  ProbeRecord lines;
  std::map<double, double> clocks;
  for (const Point& point : probe.points) {
    const std::vector<double> times = usable_times(point, fields::wall_s);
    if (times.empty()) continue;
    const auto size = static_cast<double>(integer_parameter(point, fields::working_set_bytes));
    if (integer_of(point, fields::stride_bytes).value_or(0) >= page_bytes) {
      result.translation_latency.push_back(
          {Bytes(size),
           transform(median_estimate(times), [](double time) { return Seconds(time); })});
      continue;
    }
    lines.points.push_back(point);
    if (const auto clock = counted_clock(point)) clocks[size] = *clock;
  }
  std::vector<CacheCapacity> caches;
  if (result.identity.shared_per_multiprocessor) {
    caches.push_back({"L1", *result.identity.shared_per_multiprocessor, {}});
  }
  if (result.identity.l2_cache) caches.push_back({"L2", *result.identity.l2_cache, {}});
  analyse_latency(lines, caches, result.roofline);
  for (const LatencyLevel& level : result.roofline.latency_levels) {
    GpuLatencyLevel found{level, std::nullopt};
    if (const auto clock = clock_on(clocks, level.smallest, level.largest)) {
      found.cycles = transform(level.latency, [&](Seconds time) { return time.value() * *clock; });
    }
    result.latency_levels.push_back(std::move(found));
  }
}

}  // namespace scaleworth::model
