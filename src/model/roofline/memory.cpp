// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/memory.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"
#include "src/model/roofline/samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace scaleworth::model {
namespace {

using CurveKey = std::pair<std::string, int>;         // kernel, workers
using Curve = std::map<double, std::vector<double>>;  // working set in bytes to values

std::vector<CurveSample> samples_of(const Curve& curve) {
  std::vector<CurveSample> samples;
  for (const auto& [bytes, values] : curve) samples.push_back({Bytes(bytes), values});
  return samples;
}

Estimate<BytesPerSecond> byte_rate(double bytes, std::span<const double> times) {
  return transform(rate_estimate(bytes, times), [](double rate) { return BytesPerSecond(rate); });
}

void append(std::vector<double>& to, const std::vector<double>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

void analyse_memory(const ProbeRecord& probe,
                    std::span<const CacheCapacity> caches,
                    RooflineResult& result) {
  std::map<CurveKey, Curve> curves;
  std::size_t contended = 0;
  for (const Point& point : probe.points) {
    MemoryPoint measured;
    measured.kernel = text_parameter(point, fields::kernel);
    measured.nontemporal = flag_parameter(point, fields::nontemporal);
    measured.workers = static_cast<int>(integer_parameter(point, fields::workers));
    measured.working_set =
        Bytes(static_cast<double>(integer_parameter(point, fields::working_set_bytes)));
    const Repetitions repetitions = undisturbed(point, measured.workers);
    if (repetitions.times_s.empty()) continue;
    contended += repetitions.contended ? 1 : 0;
    const double bytes = amount(point, fields::bytes);
    measured.rate = byte_rate(bytes, repetitions.times_s);
    const auto real = point.amounts.find(fields::bytes_real);
    measured.real_rate =
        byte_rate(real == point.amounts.end() ? bytes : real->second, repetitions.times_s);
    if (!measured.nontemporal) {
      append(curves[{measured.kernel, measured.workers}][measured.working_set.value()],
             rates(bytes, repetitions.times_s));
    }
    result.memory.push_back(std::move(measured));
  }
  warn_contended("memory", contended, result.warnings);
  for (const auto& [key, curve] : curves) {
    for (const Level& level : find_levels(samples_of(curve), caches, key.second)) {
      result.memory_levels.push_back(
          {level.label,
           key.first,
           key.second,
           level.smallest,
           level.largest,
           transform(level.value, [](double rate) { return BytesPerSecond(rate); })});
    }
  }
}

void analyse_latency(const ProbeRecord& probe,
                     std::span<const CacheCapacity> caches,
                     RooflineResult& result) {
  const auto seconds = [](double time) { return Seconds(time); };
  Curve curve;
  std::size_t contended = 0;
  for (const Point& point : probe.points) {
    const auto bytes = static_cast<double>(integer_parameter(point, fields::working_set_bytes));
    const Repetitions repetitions = undisturbed(point, 1);
    if (repetitions.times_s.empty()) continue;
    contended += repetitions.contended ? 1 : 0;
    append(curve[bytes], repetitions.times_s);
  }
  warn_contended("latency", contended, result.warnings);
  for (const auto& [bytes, times] : curve) {
    result.latency.push_back({Bytes(bytes), transform(median_estimate(times), seconds)});
  }
  for (const Level& level : find_levels(samples_of(curve), caches, 1)) {
    result.latency_levels.push_back(
        {level.label, level.smallest, level.largest, transform(level.value, seconds)});
  }
}

std::optional<BandwidthAt> bandwidth_at(std::span<const MemoryPoint> points,
                                        int workers,
                                        Bytes footprint) {
  std::map<std::pair<std::string, bool>, std::map<double, double>> curves;
  for (const MemoryPoint& point : points) {
    if (point.workers != workers) continue;
    curves[{point.kernel, point.nontemporal}][point.working_set.value() * workers] =
        point.real_rate.value.value();
  }
  if (curves.empty()) return std::nullopt;
  BandwidthAt best;
  for (const auto& [kernel, curve] : curves) {
    const auto above = curve.lower_bound(footprint.value());
    const auto& high = above == curve.end() ? *std::prev(above) : *above;
    const auto& low = above == curve.begin() ? *above : *std::prev(above);
    const double share = high.first > low.first ? std::log(footprint.value() / low.first) /
                                                      std::log(high.first / low.first)
                                                : 0.0;
    const double rate = low.second * std::pow(high.second / low.second, share);
    best.likely = std::max(best.likely, BytesPerSecond(rate));
    best.bound = std::max(best.bound, BytesPerSecond(std::max(rate, low.second)));
  }
  return best;
}

}  // namespace scaleworth::model
