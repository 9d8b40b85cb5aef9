// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"
#include "src/model/transformer/utilisation.h"

#include <map>

namespace scaleworth::model {
namespace {
constexpr double above_link =
    1.02;  // raw rates are exact; 2 % is timing. Lower warnings sound links
// See the header: boards clock memory up to 3 % higher. Beyond 10 % a part of the set was cached.
constexpr double above_memory = 1.10;
// Presumed: products and ceilings are timed at clocks that differ by some per cent. Lower warnings
// sound results, higher lets a wrong roof pass.
constexpr double above_roof = 1.05;

// Of NVIDIA's caches since Fermi: farther apart is a TLB's test.
constexpr std::int64_t line_bytes = 128;

/// The fastest variant of a kernel at one size.
struct Best {
  Estimate<double> rate;
  Series rates;
  std::optional<StreamVariant> variant;
};
using StreamCurve = std::map<double, Best>;  // by working set in bytes

std::map<ByWord<MemoryKernel>, StreamCurve> best_variants(const ProbeRecord& probe) {
  std::map<ByWord<MemoryKernel>, StreamCurve> curves;
  for (const Point& point : probe.points) {
    // Pilots choose the variant; their few short samples are no measurement.
    if (point.setting.symbol<Pass>(Parameter::pass) == Pass::pilot) continue;
    if (symbol_parameter<StreamScope>(point, Parameter::scope) != StreamScope::device) continue;
    const auto rate = rate_of(point, Metric::bytes);
    if (!rate) continue;
    const auto size = static_cast<double>(integer_parameter(point, Parameter::working_set_bytes));
    StreamCurve& curve = curves[{symbol_parameter<MemoryKernel>(point, Parameter::kernel)}];
    Best& best = curve[size];
    if (best.rates.empty() || rate->value > best.rate.value) {
      best = {*rate,
              rates(amount(point, Metric::bytes), usable_times(point, Metric::wall_s)),
              point.setting.stream_variant()};
    }
  }
  return curves;
}

std::vector<CacheCapacity> caches_of(const GpuIdentity& gpu, bool of_multiprocessors) {
  std::vector<CacheCapacity> caches;
  if (of_multiprocessors && gpu.shared_per_multiprocessor) {
    caches.push_back({{MemoryLevelName::l1}, *gpu.shared_per_multiprocessor, {}});
  }
  if (gpu.l2_cache) caches.push_back({{MemoryLevelName::l2}, *gpu.l2_cache, 1});
  return caches;
}

// Of event and clock readings together, see gemm_search.cpp.
constexpr double measurement_slack = 1.005;

const DatasheetPeak* sheet_peak(const GpuDatasheet& sheet,
                                NumberFormat precision,
                                bool cuda_cores) {
  const std::string key = key_of(precision);
  if (cuda_cores) return value_at(sheet.cuda_cores, key);
  if (const DatasheetPeak* exact = value_at(sheet.tensor, key)) return exact;
  // Floating-point formats of 8 bits that differ in their scales or exponent share one peak.
  const bool eight_bits = element_bytes(precision) == 1.0 && precision != NumberFormat::int8;
  if (eight_bits) return value_at(sheet.tensor, key_of(NumberFormat::fp8_e4m3));
  if (precision != NumberFormat::fp32 && precision != NumberFormat::fp64) return nullptr;
  return value_at(sheet.cuda_cores, key);
}

}  // namespace

double share_of_sheet(const GpuIdentity& gpu, int multiprocessors) {
  if (!gpu.datasheet || multiprocessors <= 0 || gpu.datasheet->multiprocessors <= 0) return 1.0;
  return static_cast<double>(multiprocessors) / gpu.datasheet->multiprocessors;
}

void analyse_gpu_compute(const ProbeRecord& probe, GpuResult& result) {
  const GpuIdentity& gpu = result.identity;
  for (const Point& point : probe.points) {
    std::optional<ComputeCeiling> ceiling = compute_ceiling(point, result.warnings);
    if (!ceiling) continue;
    ceiling->conditions = conditions_of(point);
    ceiling->against = against_peak(gpu,
                                    ceiling->precision,
                                    ceiling->isa == Isa::cuda_cores,
                                    ceiling->wall_rate,
                                    ceiling->conditions.clock_hz);
    const auto why = ceiling->against ? impossible_rate(gpu, *ceiling->against) : std::nullopt;
    if (why)
      result.warnings.emplace_back(
          FindingId::ceiling_above_clock, word_of(ceiling->precision), word_of(ceiling->isa), *why);
    result.roofline.ceilings.push_back(std::move(*ceiling));
  }
}

void warn_of_impossible_rates(GpuResult& result) {
  for (const GpuTransfer& transfer : result.transfers) {
    if (transfer.of_link.value_or(0.0) <= above_link) continue;
    result.warnings.emplace_back(FindingId::transfer_above_link,
                                 word_of(transfer.source),
                                 word_of(transfer.target),
                                 *transfer.of_link,
                                 transfer.link);
  }
  for (const MemoryLevel& level : result.roofline.memory_levels) {
    if (!level.of_datasheet || level.of_datasheet->value <= above_memory) continue;
    result.warnings.emplace_back(
        FindingId::memory_above_sheet, word_of(level.stream), level.of_datasheet->value);
  }
  for (const PlacedGemm& gemm : result.roofline.gemms) {
    if (gemm.rate.low() / gemm.roof <= above_roof) continue;
    result.warnings.emplace_back(FindingId::product_above_roof,
                                 word_of(gemm.format),
                                 gemm.shape.m,
                                 gemm.shape.n,
                                 gemm.shape.k,
                                 gemm.fraction);
  }
}

void analyse_gpu_memory(const ProbeRecord& probe, GpuResult& result) {
  const GpuIdentity& gpu = result.identity;
  for (const auto& [kernel, curve] : best_variants(probe)) {
    const StreamKernel stream{kernel.value};
    std::vector<CurveSample> samples;
    for (const auto& [size, best] : curve) {
      const auto rate = as<BytesPerSecond>(best.rate);
      result.roofline.memory.push_back({stream, 1, Bytes(size), rate, rate});
      samples.push_back({Bytes(size), best.rates});
    }
    for (const Level& level : find_levels(samples, caches_of(gpu, false), 1)) {
      MemoryLevel found{level_as<BytesPerSecond>(level), stream};
      found.variant = curve.at(level.largest.value()).variant;
      if (level.name.known == MemoryLevelName::memory && gpu.datasheet &&
          gpu.datasheet->memory_bandwidth) {
        const BytesPerSecond peak = *gpu.datasheet->memory_bandwidth;
        found.of_datasheet =
            transform(found.value, [=](BytesPerSecond rate) { return rate / peak; });
      }
      result.roofline.memory_levels.push_back(std::move(found));
    }
  }
}

void analyse_gpu_latency(const ProbeRecord& probe, GpuResult& result) {
  ProbeRecord lines;
  std::map<double, double> clocks;
  for (const Point& point : probe.points) {
    const Series times = usable_times(point, Metric::wall_s);
    if (times.empty()) continue;
    const auto size = static_cast<double>(integer_parameter(point, Parameter::working_set_bytes));
    if (point.setting.count(Parameter::stride_bytes).value_or(0) > line_bytes) continue;
    lines.points.push_back(point);
    if (const auto clock = counted_clock(point)) clocks[size] = *clock;
  }
  analyse_latency(lines, caches_of(result.identity, true), result.roofline);
  for (LatencyLevel& level : result.roofline.latency_levels) {
    std::vector<double> on_level;
    const auto end = clocks.upper_bound(level.largest.value());
    for (auto at = clocks.lower_bound(level.smallest.value()); at != end; ++at) {
      on_level.push_back(at->second);
    }
    if (const auto clock = median(on_level)) {
      level.cycles = transform(level.value, [&](Seconds time) { return time.value() * *clock; });
    }
  }
}

std::optional<AgainstPeak> against_peak(const GpuIdentity& gpu,
                                        NumberFormat precision,
                                        bool on_cuda_cores,
                                        const Estimate<FlopPerSecond>& rate,
                                        std::optional<double> clock_hz) {
  AgainstPeak against;
  if (gpu.given_peak && !on_cuda_cores && precision == NumberFormat::bf16) {
    against.peak = *gpu.given_peak;
  } else {
    const DatasheetPeak* peak =
        gpu.datasheet ? sheet_peak(*gpu.datasheet, precision, on_cuda_cores) : nullptr;
    if (peak == nullptr) return std::nullopt;
    against.peak = peak->rate;
    against.basis = datasheet_basis(key_of(precision), *peak);
    against.clock_hz = peak->clock_hz;
  }
  against.fraction = transform(rate, [&](FlopPerSecond value) { return value / against.peak; });
  if (clock_hz && against.clock_hz) {
    against.clock_ratio = *clock_hz / *against.clock_hz;
    const double reachable =
        *against.clock_ratio * share_of_sheet(gpu, gpu.multiprocessors.value_or(0));
    against.fraction_at_clock =
        transform(against.fraction, [=](double fraction) { return fraction / reachable; });
  }
  return against;
}

std::optional<Finding> impossible_rate(const GpuIdentity& gpu, const AgainstPeak& against) {
  if (!against.clock_hz || !gpu.maximum_clock_hz) return {};
  // A datasheet may count with a clock that this GPU is not allowed to reach.
  const double clock = std::max(*gpu.maximum_clock_hz, *against.clock_hz);
  const double share = share_of_sheet(gpu, gpu.multiprocessors.value_or(0));
  const double most = clock / *against.clock_hz * share * measurement_slack;
  if (against.fraction.low() <= most) return {};
  return Finding(
      FindingId::above_clock, against.fraction.low() / most * measurement_slack, clock * 1e-6);
}
}  // namespace scaleworth::model
