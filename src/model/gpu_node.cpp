// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/whole_number.h"
#include "src/model/analysis.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/transformer/utilisation.h"

#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace scaleworth::model {
namespace {
Finding basis_of(const SlowestProduct& slowest) {
  const auto& [product, ordinal] = slowest;
  const char* format = word_of(product->format.precision);
  const auto& against = product->against;
  if (!against) return {FindingId::steady_products, format, ordinal};
  return {
      FindingId::steady_products_of_peak, format, ordinal, against->fraction.value, against->basis};
}

/// GPUs of one model differ by as much in good health. Source: published per-GPU tables of 8-GPU
/// nodes spread by 5 % (stas00/ml-engineering).
constexpr double normal_spread = 0.05;
constexpr double enough_explained = 0.8;  // as `explains_enough` of src/core/attribution.h
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
  if (explained < enough_explained) return {};
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

std::optional<BytesPerSecond> memory_read_rate(const GpuResult& gpu) {
  for (const MemoryLevel& level : gpu.roofline.memory_levels) {
    const bool memory = level.name.known == MemoryLevelName::memory;
    if (memory && level.stream.kernel == MemoryKernel::read) return level.value.value;
  }
  return std::nullopt;
}

void add_gpu_utilisation(const Run& run,
                         const std::vector<GpuResult>& gpus,
                         std::vector<ScalingResult>& scaling) {
  if (gpus.empty()) return;
  for (const MeasuredMode& mode : measured_modes(run)) {
    for (const MeasuredCount& count : mode.counts) {
      const auto precision = from_key<NumberFormat>(count.precision);
      if (!precision || precision == NumberFormat::fp32) continue;
      const SlowestProduct slowest = slowest_steady(gpus, *precision);
      if (slowest.product == nullptr) continue;
      for (ScalingResult& result : scaling) {
        for (DecisionRow& row : result.rows) {
          if (result.mode != mode.mode || row.count != count.ranks) continue;
          const FlopPerSecond peak = slowest.product->rate.value * static_cast<double>(count.ranks);
          row.trained.mfu_measured =
              model_flops_utilisation(Flops(count.model_flops), row.time.value, peak);
          row.trained.mfu_basis = basis_of(slowest);
        }
      }
    }
  }
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
  // B/s of one lane.
  constexpr std::array lane{0.25e9,
                            0.5e9,
                            8e9 / 8.0 * 128.0 / 130.0,
                            16e9 / 8.0 * 128.0 / 130.0,
                            32e9 / 8.0 * 128.0 / 130.0,
                            64e9 / 8.0 * 242.0 / 256.0};
  if (generation < 1 || generation > static_cast<int>(lane.size()) || width < 1) {
    return std::nullopt;
  }
  return BytesPerSecond(lane.at(static_cast<std::size_t>(generation) - 1) * width);
}
}  // namespace scaleworth::model
