// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu.h"

#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/analysis.h"

#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace scaleworth::model {
namespace {
/// From section "gpu N". The datasheet is found by PCI device id; none for a GPU
/// that the catalogue does not know.
GpuIdentity identify_gpu(const Run& run, int ordinal, const AnalysisOptions& options) {
  const std::string section = fmt::format("gpu {}", ordinal);
  const auto number = [&](const char* name) { return number_fact(run, section, name); };
  const auto whole = [&](const char* name) -> std::optional<int> {
    const auto value = number(name);
    if (!value || *value < 0.0 || *value > std::numeric_limits<int>::max()) return std::nullopt;
    return static_cast<int>(*value);
  };
  const auto bytes = [&](const char* name) {
    const auto value = number(name);
    return value ? std::optional(Bytes(*value)) : std::nullopt;
  };
  GpuIdentity gpu;
  gpu.ordinal = ordinal;
  gpu.name = text_fact(run, section, "name");
  gpu.uuid = text_fact(run, section, "uuid");
  gpu.pci_device_id = whole("pci_device_id");
  gpu.multiprocessors = whole("multiprocessors");
  gpu.memory = bytes("memory_bytes");
  gpu.l2_cache = bytes("l2_bytes");
  gpu.shared_per_multiprocessor = bytes("shared_per_multiprocessor_bytes");
  gpu.maximum_clock_hz = number("maximum_clock_hz");
  gpu.power_limit_w = number("power_limit_w");
  gpu.default_power_limit_w = number("power_limit_default_w");
  const auto generation = whole("pcie_generation");
  const auto width = whole("pcie_width");
  if (generation && width) gpu.pcie_bandwidth = pcie_rate(*generation, *width);
  gpu.mig = gpu.uuid.starts_with("MIG-");
  if (gpu.multiprocessors && gpu.memory) {
    const auto& catalogue = options.datasheets ? *options.datasheets : gpu_catalogue();
    const GpuDatasheet* sheet =
        find_datasheet(catalogue, gpu.pci_device_id, *gpu.multiprocessors, *gpu.memory);
    if (sheet != nullptr) gpu.datasheet = *sheet;
  }
  gpu.given_peak = options.peak_per_rank;
  return gpu;
}

GpuResult analyse_gpu(const Run& run, int ordinal, const AnalysisOptions& options) {
  GpuResult result;
  result.identity = identify_gpu(run, ordinal, options);
  analyse_gpu_memory(points_of_gpu(run, probe_name::gpu_memory, ordinal), result);
  analyse_gpu_latency(points_of_gpu(run, probe_name::gpu_latency, ordinal), result);
  analyse_gpu_compute(points_of_gpu(run, probe_name::gpu_compute, ordinal), result);
  const ProbeRecord launches = points_of_gpu(run, probe_name::gpu_launch, ordinal);
  for (const Point& point : launches.points) {
    const Series times = usable_times(point, Metric::wall_s);
    if (times.empty()) continue;
    result.launches.push_back({symbol_parameter<LaunchKind>(point, Parameter::launch),
                               as<Seconds>(series_estimate(times))});
  }
  const auto products = [&](const char* probe) {
    return products_of(points_of_gpu(run, probe, ordinal), result.identity, result.warnings);
  };
  // Needs the memory, ceilings and launches found before.
  const std::vector<GpuGemm> all = products(probe_name::gpu_gemm);
  result.formats = formats_of(all, result);
  place_products(all, result);
  const ProbeRecord transfers = points_of_gpu(run, probe_name::gpu_transfer, ordinal);
  result.transfers = transfers_of(run, transfers, result.identity);
  if (const auto lowered = lowered_pcie_link(run, transfers, ordinal))
    result.warnings.push_back(*lowered);
  warn_of_impossible_rates(result);
  return result;
}

constexpr std::array gpu_probes{probe_name::gpu_compute,
                                probe_name::gpu_memory,
                                probe_name::gpu_latency,
                                probe_name::gpu_gemm,
                                probe_name::gpu_together,
                                probe_name::gpu_transfer,
                                probe_name::gpu_launch};
// Shorter ones hold too few updates of the counter (see the header): an error of several per cent.
constexpr double least_energy_window_s = 2.0;
/// An H200's reading follows within some 0.1 s: over a burst it is mostly of the pause before.
constexpr double least_power_window_s = 1.0;
constexpr double largest_mask = 0x1p63;

/// The readings that the driver gave.
std::vector<double> readings(const Point& point, Metric metric) {
  const Series* found = value_at(point.samples, metric);
  std::vector<double> given = found ? *found : Series{};
  std::erase_if(given, [](double value) { return !std::isfinite(value); });
  return given;
}

std::vector<std::pair<ClockReason, double>> reasons_of(const Point& point) {
  const std::vector<double> masks = readings(point, Metric::telemetry_clock_event_reasons);
  std::vector<std::pair<ClockReason, double>> shares;
  for (const ClockReason reason : every<ClockReason>) {
    // Bit 0 is an idle GPU, which is no reason under load.
    const auto times =
        std::ranges::count_if(masks, [bit = 2u << static_cast<int>(reason)](double mask) {
          return mask >= 0.0 && mask < largest_mask &&
                 (static_cast<std::uint64_t>(mask) & bit) != 0;
        });
    if (times == 0) continue;
    shares.emplace_back(reason, static_cast<double>(times) / static_cast<double>(masks.size()));
  }
  std::ranges::stable_sort(shares, std::greater{}, &std::pair<ClockReason, double>::second);
  return shares;
}
}  // namespace

std::vector<GpuResult> analyse_gpus(const Run& run, const AnalysisOptions& options) {
  std::set<int> ordinals;
  for (const char* name : gpu_probes) {
    const ProbeRecord* record = find_probe(run, name);
    if (record == nullptr) continue;
    for (const Point& point : record->points) {
      ordinals.insert(count_parameter(point, Parameter::gpu));
    }
  }
  return mapped(ordinals, [&](int ordinal) { return analyse_gpu(run, ordinal, options); });
}

GpuConditions conditions_of(const Point& point) {
  GpuConditions conditions;
  conditions.clock_hz = counted_clock(point);
  if (!conditions.clock_hz) {
    conditions.clock_hz = median(readings(point, Metric::telemetry_sm_clock_hz));
  }
  const std::vector<double> energy = readings(point, Metric::telemetry_energy_j);
  const std::vector<double> window = readings(point, Metric::telemetry_window_s);
  if (window.empty() || window.front() >= least_power_window_s)
    conditions.power_w = median(readings(point, Metric::telemetry_power_w));
  if (!energy.empty() && !window.empty() && window.front() >= least_energy_window_s) {
    conditions.power_w = energy.front() / window.front();
    conditions.power_from_energy = true;
  }
  conditions.temperature_c = median(readings(point, Metric::telemetry_temperature_c));
  conditions.slowdown_reasons = reasons_of(point);
  return conditions;
}

std::optional<Estimate<double>> rate_of(const Point& point, Metric amount) {
  const double total = amount_of(point, amount).value_or(0.0);
  if (!(total > 0.0)) return std::nullopt;
  const Series times = usable_times(point, Metric::wall_s);
  if (times.empty()) return std::nullopt;
  const Estimate<double> rate = rate_estimate(total, times);
  return std::isfinite(rate.value) ? std::optional(rate) : std::nullopt;
}

ProbeRecord points_of_gpu(const Run& run, const char* probe, int ordinal) {
  ProbeRecord selected;
  selected.name = probe;
  const ProbeRecord* all = find_probe(run, probe);
  if (all == nullptr) return selected;
  for (const Point& point : all->points) {
    if (integer_parameter(point, Parameter::gpu) == ordinal) selected.points.push_back(point);
  }
  return selected;
}

std::optional<double> counted_clock(const Point& point) {
  if (!point.samples.contains(Metric::clock_hz)) return std::nullopt;
  return median(usable_times(point, Metric::clock_hz));
}
}  // namespace scaleworth::model
