// SPDX-License-Identifier: Apache-2.0
#include "src/model/gpu.h"

#include "src/core/files/csv.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/whole_number.h"
#include "src/model/acceptance.h"
#include "src/model/analysis.h"
#include "src/model/decision/scaling_table.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

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

/// GPUs of one model differ by as much in good health. Source: published per-GPU tables of 8-GPU
/// nodes spread by 5 % (stas00/ml-engineering).
constexpr double normal_spread = 0.05;
// 3 % below is a setting; boards of one kind have equal limits.
constexpr double lower_limit = 0.97;
constexpr double more_often = 0.2;  // of the readings, beyond chance of some 100; presumed
// Presumed: GPUs that share an air stream differ by some degrees in good health. Lower names heat
// too often, higher leaves a blocked fan out.
constexpr double hotter_c = 8.0;

/// A figure of one GPU beside the median of the others'.
struct Beside {
  double own = 0.0;
  double others = 0.0;
};

template <class Figure>
std::optional<Beside> beside_others(const std::vector<GpuPace>& paces,
                                    std::size_t index,
                                    const Figure& figure) {
  const std::optional<double> own = figure(paces[index]);
  std::vector<double> others;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const std::optional<double> other = figure(paces[i]);
    if (i != index && other) others.push_back(*other);
  }
  if (!own || others.empty()) return std::nullopt;
  return Beside{*own, *median(others)};
}

std::optional<Finding> reason_difference(const std::vector<GpuPace>& paces, std::size_t index) {
  for (const auto& [reason, share] : paces[index].conditions.slowdown_reasons) {
    const auto shares = beside_others(paces, index, [given = reason](const GpuPace& pace) {
      using Reason = std::pair<ClockReason, double>;
      const Reason* found = find_in(pace.conditions.slowdown_reasons, given, &Reason::first);
      return std::optional(found ? found->second : 0.0);
    });
    if (!shares || shares->own < shares->others + more_often) continue;
    return Finding(FindingId::reason_more_often, word_of(reason), share, shares->others);
  }
  return {};
}

/// The clock that explains the loss and what explains the clock; empty when the clock does not.
std::vector<Finding> cause_of(const std::vector<GpuPace>& paces, std::size_t index) {
  const auto clocks =
      beside_others(paces, index, [](const GpuPace& pace) { return pace.conditions.clock_hz; });
  if (!clocks || !(clocks->own < clocks->others)) return {};
  const double explained =
      std::log(clocks->own / clocks->others) / std::log(paces[index].of_others->value);
  if (explained < explains_enough) return {};
  std::vector<Finding> cause{{FindingId::slower_clock, clocks->own * 1e-6, clocks->others * 1e-6}};
  const auto limits =
      beside_others(paces, index, [](const GpuPace& pace) { return pace.power_limit_w; });
  if (limits && limits->own < lower_limit * limits->others)
    cause.emplace_back(FindingId::lower_power_limit, limits->own, limits->others);
  if (const auto reason = reason_difference(paces, index)) cause.push_back(*reason);
  const auto heat = beside_others(
      paces, index, [](const GpuPace& pace) { return pace.conditions.temperature_c; });
  if (heat && heat->own >= heat->others + hotter_c)
    cause.emplace_back(FindingId::hotter, heat->own, heat->others);
  return cause;
}

/// GPUs of one model.
void judge(std::vector<GpuPace>& paces) {
  if (paces.size() < 2) return;
  for (GpuPace& pace : paces) {
    std::vector<Estimate<FlopPerSecond>> others;
    for (const GpuPace& other : paces)
      if (&other != &pace) others.push_back(other.together);
    std::ranges::sort(others, {}, &Estimate<FlopPerSecond>::value);
    // The middle one (of an even number the lower), with its interval.
    const Estimate<double> share = ratio(pace.together, others[(others.size() - 1) / 2]);
    pace.slow = share.high() < 1.0 - normal_spread;
    pace.of_others = share;
  }
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (paces[i].slow) paces[i].cause = cause_of(paces, i);
  }
}

std::optional<GpuPace> pace_of(const std::vector<GpuGemm>& products,
                               const GpuIdentity& gpu,
                               NumberFormat& precision) {
  std::optional<GpuPace> pace;
  for (const GpuGemm& gemm : products) {
    if (gemm.pass != Pass::together) continue;
    pace = {gpu.ordinal, gemm.rate, {}, {}, {}, gemm.conditions, gpu.power_limit_w, false, {}};
    precision = gemm.format.precision;
  }
  for (const GpuGemm& gemm : products) {
    if (!pace || gemm.pass != Pass::alone) continue;
    pace->alone = gemm.rate;
    pace->of_alone = ratio(pace->together, gemm.rate);
  }
  return pace;
}

std::optional<RawLink> pcie_link(const GpuIdentity& gpu) {
  if (!gpu.pcie_bandwidth) return std::nullopt;
  return RawLink{*gpu.pcie_bandwidth, "PCIe"};
}

std::optional<RawLink> peer_link(const Run& run,
                                 std::int64_t from,
                                 std::int64_t to,
                                 const GpuIdentity& gpu) {
  const auto joins = [&](const GpuLink& link) {
    return std::minmax<std::int64_t>(link.first, link.second) == std::minmax(from, to);
  };
  const auto found = std::ranges::find_if(run.gpu_links, joins);
  if (found == run.gpu_links.end()) return std::nullopt;
  if (found->kind == LinkKind::peer) return pcie_link(gpu);
  if (found->kind != LinkKind::nvlink) return std::nullopt;
  if (const auto each = number_fact(run, fmt::format("gpu {}", from), "nvlink_bytes_per_s")) {
    return RawLink{BytesPerSecond(found->links * *each), counted(found->links, "NVLink")};
  }
  if (!gpu.datasheet || !gpu.datasheet->nvlink) return std::nullopt;
  return RawLink{*gpu.datasheet->nvlink / 2.0, "NVLink of the datasheet"};
}

/// The highest value of a series over all points.
std::optional<double> highest(const ProbeRecord& probe, Metric metric) {
  std::optional<double> result;
  for (const Point& point : probe.points) {
    const Series* found = value_at(point.samples, metric);
    if (!found) continue;
    for (const double value : *found) result = std::max(result.value_or(value), value);
  }
  return result;
}

/// Reported by engine, then by ends: engine, all GPUs together, both directions, target, source.
using TransferKey = std::tuple<TransferEngine, bool, bool, MemoryPlace, MemoryPlace>;

/// `sizes` are those of one direction.
GpuTransfer transfer_of(const TransferKey& key,
                        const std::map<double, const Point*>& sizes,
                        const Run& run,
                        const GpuIdentity& gpu) {
  GpuTransfer transfer;
  std::tie(transfer.engine,
           transfer.together,
           transfer.both_directions,
           transfer.target,
           transfer.source) = key;
  std::vector<TimedSize> times;
  for (const auto& [size, point] : sizes) {
    times.push_back({Bytes(size), Seconds(*median(usable_times(*point, Metric::wall_s)))});
    transfer.points.push_back({Bytes(size), as<BytesPerSecond>(*rate_of(*point, Metric::bytes))});
  }
  transfer.plateau = transfer.points.back().value;
  if (const auto fit = fit_communication(times, form_alpha_beta)) {
    const CommunicationSegment& line = fit->segments.front();
    transfer.alpha = line.alpha;
    transfer.beta = line.beta;
    if (line.beta.value.value() > 0.0) transfer.half_size = line.alpha.value / line.beta.value;
  }
  if (const auto link = link_between(run, transfer.source, transfer.target, gpu)) {
    const double directions = transfer.both_directions ? 2.0 : 1.0;
    transfer.of_link = transfer.plateau.value / (link->rate * directions);
    transfer.link = link->name;
  }
  return transfer;
}
}  // namespace

std::vector<GpuResult> analyse_gpus(const Run& run, const AnalysisOptions& options) {
  std::set<int> ordinals;
  for (const char* name : gpu_probes) {
    for (const Point& point : points_of(run, name)) {
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
  for (const Point& point : points_of(run, probe)) {
    if (integer_parameter(point, Parameter::gpu) == ordinal) selected.points.push_back(point);
  }
  return selected;
}

std::optional<double> counted_clock(const Point& point) {
  if (!point.samples.contains(Metric::clock_hz)) return std::nullopt;
  return median(usable_times(point, Metric::clock_hz));
}

std::optional<BytesPerSecond> memory_read_rate(const GpuResult& gpu) {
  for (const MemoryLevel& level : gpu.roofline.memory_levels) {
    const bool memory = level.name.known == MemoryLevelName::memory;
    if (memory && level.stream.kernel == MemoryKernel::read) return level.value.value;
  }
  return std::nullopt;
}

std::optional<GpusTogether> compare_gpus(const Run& run, const std::vector<GpuResult>& gpus) {
  GpusTogether result;
  std::map<std::string, std::vector<GpuPace>> by_model;
  for (const GpuResult& gpu : gpus) {
    std::vector<Finding> printed_elsewhere;
    const auto products =
        products_of(points_of_gpu(run, probe_name::gpu_together, gpu.identity.ordinal),
                    gpu.identity,
                    printed_elsewhere);
    const auto pace = pace_of(products, gpu.identity, result.precision);
    if (pace) by_model[gpu.identity.name].push_back(*pace);
  }
  for (auto& [model, paces] : by_model) {
    judge(paces);
    result.paces.insert(result.paces.end(), paces.begin(), paces.end());
  }
  if (result.paces.size() < 2) return std::nullopt;
  std::ranges::sort(result.paces, {}, &GpuPace::ordinal);
  const auto [slowest, fastest] = std::ranges::minmax_element(
      result.paces, {}, [](const GpuPace& pace) { return pace.together.value; });
  result.slowest = slowest->ordinal;
  result.spread = 1.0 - slowest->together.value / fastest->together.value;
  return result;
}

std::optional<RawLink> link_between(const Run& run,
                                    const MemoryPlace& source,
                                    const MemoryPlace& target,
                                    const GpuIdentity& gpu) {
  if (source.kind != TransferEnd::gpu || target.kind != TransferEnd::gpu) return pcie_link(gpu);
  if (source == target || !source.index || !target.index) return std::nullopt;
  return peer_link(run, *source.index, *target.index, gpu);
}

std::optional<Finding> lowered_pcie_link(const Run& run, const ProbeRecord& probe, int ordinal) {
  const std::string section = fmt::format("gpu {}", ordinal);
  const auto generation = highest(probe, Metric::telemetry_pcie_generation);
  const auto width = highest(probe, Metric::telemetry_pcie_width);
  const auto possible_generation = number_fact(run, section, "pcie_generation");
  const auto possible_width = number_fact(run, section, "pcie_width");
  if (!generation || !width || !possible_generation || !possible_width) return std::nullopt;
  if (*generation >= *possible_generation && *width >= *possible_width) return std::nullopt;
  return Finding(
      FindingId::pcie_lowered, *generation, *width, *possible_generation, *possible_width);
}

std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu) {
  std::map<TransferKey, std::map<double, const Point*>> groups;
  for (const Point& point : probe.points) {
    if (!rate_of(point, Metric::bytes)) continue;
    const TransferKey key{symbol_parameter<TransferEngine>(point, Parameter::engine),
                          point.setting.symbol<Pass>(Parameter::pass) == Pass::together,
                          flag_parameter(point, Parameter::both_directions),
                          point.setting.place(Parameter::target),
                          point.setting.place(Parameter::source)};
    groups[key][static_cast<double>(integer_parameter(point, Parameter::transfer_bytes))] = &point;
  }
  return mapped(groups,
                [&](const auto& one) { return transfer_of(one.first, one.second, run, gpu); });
}

std::optional<BytesPerSecond> pcie_rate(int generation, int width) {
  const BytesPerSecond lane = link_rate(Wire::pcie, generation);
  if (!(lane.value() > 0.0) || width < 1) return std::nullopt;
  return lane * width;
}
}  // namespace scaleworth::model
