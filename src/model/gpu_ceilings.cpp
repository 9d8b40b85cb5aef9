// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
void analyse_gpu_compute(const ProbeRecord& probe,
                         std::optional<FlopPerSecond> given,
                         GpuResult& result) {
  for (const Point& point : probe.points) {
    ProbeRecord single;
    single.points = {point};
    const std::vector<ComputeCeiling> measured = compute_ceilings(single, result.warnings);
    if (measured.empty()) continue;
    GpuCeiling found{measured.front(), conditions_of(point), std::nullopt};
    const ComputeCeiling& ceiling = found.ceiling;
    const auto peak = peak_of(result.identity, ceiling.precision, ceiling.isa == cuda_cores, given);
    if (peak) {
      found.against =
          against_peak(result.identity, *peak, ceiling.wall_rate, found.conditions.clock_hz);
      const std::string why = impossible_rate(result.identity, *found.against);
      if (!why.empty()) {
        result.warnings.push_back(
            fmt::format("{} on the {} reaches {}", ceiling.precision, ceiling.isa, why));
      }
    }
    result.roofline.ceilings.push_back(ceiling);
    result.ceilings.push_back(std::move(found));
  }
}

namespace {
constexpr double above_link = 1.02;
constexpr double above_memory = 1.10;
constexpr double above_roof = 1.05;

}  // namespace

void warn_of_impossible_rates(GpuResult& result) {
  for (const GpuTransfer& transfer : result.transfers) {
    if (transfer.of_link.value_or(0.0) <= above_link) continue;
    result.warnings.push_back(
        fmt::format("{} to {} moves {:.0f} % of its {} link's raw rate: suspect; the link was read "
                    "while it idled, or the bytes did not cross it",
                    transfer.source,
                    transfer.target,
                    100.0 * *transfer.of_link,
                    transfer.link));
  }
  for (const GpuMemoryLevel& found : result.memory_levels) {
    if (!found.of_datasheet || found.of_datasheet->value <= above_memory) continue;
    result.warnings.push_back(
        fmt::format("{} of memory reaches {:.0f} % of the datasheet: suspect; the working set fits "
                    "the L2 cache, or the datasheet entry is not this GPU's",
                    found.level.kernel,
                    100.0 * found.of_datasheet->value));
  }
  for (const GpuPlacement& placement : result.placements) {
    const PlacedGemm& gemm = placement.gemm;
    const FlopPerSecond least = gemm.rate.interval ? gemm.rate.interval->low : gemm.rate.value;
    if (least / gemm.roof <= above_roof) continue;
    result.warnings.push_back(fmt::format(
        "{} {} x {} x {} reaches {:.0f} % of its roof: suspect; L2 served its operands, or the "
        "memory's rate was measured too low",
        gemm.precision,
        gemm.m,
        gemm.n,
        gemm.k,
        100.0 * gemm.fraction));
  }
}

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

namespace {
constexpr double measurement_slack = 1.005;

const DatasheetPeak* find_peak(const std::map<std::string, DatasheetPeak>& peaks,
                               const std::string& precision) {
  const auto found = peaks.find(precision);
  return found == peaks.end() ? nullptr : &found->second;
}

/// Formats that differ in their scales or exponent and share one peak.
std::string family_of(const std::string& precision) {
  return precision.starts_with("fp8") || precision == "mxfp8" ? "fp8_e4m3" : precision;
}

const DatasheetPeak* sheet_peak(const GpuDatasheet& sheet,
                                const std::string& precision,
                                bool cuda_cores) {
  if (cuda_cores) return find_peak(sheet.cuda_cores, precision);
  if (const DatasheetPeak* exact = find_peak(sheet.tensor, precision)) return exact;
  if (const DatasheetPeak* related = find_peak(sheet.tensor, family_of(precision))) return related;
  if (precision != "fp32" && precision != "fp64") return nullptr;
  return find_peak(sheet.cuda_cores, precision);
}

/// Multiprocessors here over those that the peak counts: a slice of a GPU has fewer.
double share_of_sheet(const GpuIdentity& gpu) {
  if (!gpu.datasheet || !gpu.multiprocessors || gpu.datasheet->multiprocessors <= 0) return 1.0;
  return static_cast<double>(*gpu.multiprocessors) / gpu.datasheet->multiprocessors;
}
}  // namespace

std::optional<NamedPeak> peak_of(const GpuIdentity& gpu,
                                 const std::string& precision,
                                 bool on_cuda_cores,
                                 std::optional<FlopPerSecond> given) {
  if (given && !on_cuda_cores && precision == "bf16") {
    return NamedPeak{{*given, std::nullopt}, "--peak"};
  }
  if (!gpu.datasheet) return std::nullopt;
  const DatasheetPeak* peak = sheet_peak(*gpu.datasheet, precision, on_cuda_cores);
  if (peak == nullptr) return std::nullopt;
  std::string basis = fmt::format("datasheet {}, dense", precision);
  if (peak->clock_hz) basis += fmt::format(", at {:.0f} MHz", *peak->clock_hz * 1e-6);
  return NamedPeak{*peak, basis};
}

AgainstPeak against_peak(const GpuIdentity& gpu,
                         const NamedPeak& named,
                         const Estimate<FlopPerSecond>& rate,
                         std::optional<double> clock_hz) {
  AgainstPeak against;
  against.peak = named.peak.rate;
  against.basis = named.basis;
  against.clock_hz = named.peak.clock_hz;
  against.fraction = transform(rate, [&](FlopPerSecond value) { return value / named.peak.rate; });
  if (clock_hz && named.peak.clock_hz) {
    against.clock_ratio = *clock_hz / *named.peak.clock_hz;
    const double reachable = *against.clock_ratio * share_of_sheet(gpu);
    against.fraction_at_clock =
        transform(against.fraction, [=](double fraction) { return fraction / reachable; });
  }
  return against;
}

std::string impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against) {
  if (!against.clock_hz || !gpu.maximum_clock_hz) return "";
  const double least =
      against.fraction.interval ? against.fraction.interval->low : against.fraction.value;
  // A datasheet may count with a clock that this GPU is not allowed to reach.
  const double clock = std::max(*gpu.maximum_clock_hz, *against.clock_hz);
  const double most = clock / *against.clock_hz * share_of_sheet(gpu) * measurement_slack;
  if (least <= most) return "";
  return fmt::format(
      "{:.0f} % of what its multiprocessors can do at {:.0f} MHz: suspect; an event of the GPU's "
      "clock went wrong, the product was cut short, or the datasheet entry is not this GPU's",
      100.0 * least / most * measurement_slack,
      clock * 1e-6);
}
}  // namespace scaleworth::model
