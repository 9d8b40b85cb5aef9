// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/files/run_names.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/model/collectives.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/gpu.h"
#include "src/model/roofline.h"
#include "src/model/transformer/utilisation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
Dollars cost_per_exaflop(DollarsPerSecond price, FlopPerSecond rate) {
  if (!(rate.value() > 0.0)) throw UserError("a cost per FLOP needs a rate above zero");
  return price / rate * Flops(1e18);
}

Dollars cost_per_terabyte(DollarsPerSecond price, BytesPerSecond rate) {
  if (!(rate.value() > 0.0)) throw UserError("a cost per byte needs a rate above zero");
  return price / rate * Bytes(1e12);
}

std::optional<BytesPerSecond> memory_read_rate(const GpuResult& gpu) {
  for (const GpuMemoryLevel& found : gpu.memory_levels) {
    if (found.level.label == "memory" && found.level.kernel == "read") {
      return found.level.rate.value;
    }
  }
  return std::nullopt;
}

std::optional<GpuCost> gpu_cost(DollarsPerSecond price, const GpuResult& gpu) {
  GpuCost cost;
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || (cost.per_exaflop && format.precision != "bf16")) continue;
    cost.per_exaflop = cost_per_exaflop(price, format.steady->rate.value);
    cost.precision = format.precision;
  }
  if (const auto rate = memory_read_rate(gpu)) cost.per_terabyte = cost_per_terabyte(price, *rate);
  if (!cost.per_exaflop && !cost.per_terabyte) return std::nullopt;
  return cost;
}

namespace {
std::string basis_of(const SlowestProduct& slowest) {
  std::string text =
      fmt::format("steady {} products of GPU {}", slowest.product->precision, slowest.ordinal);
  if (const auto& against = slowest.product->against) {
    text += fmt::format(", {:.1f} % of {}", 100.0 * against->fraction.value, against->basis);
  }
  return text;
}

void fill(const MeasuredCount& count, const SlowestProduct& slowest, ScalingRow& row) {
  const FlopPerSecond peak = slowest.product->rate.value * static_cast<double>(count.ranks);
  row.mfu_measured = model_flops_utilisation(Flops(count.model_flops), row.step.value, peak);
  row.mfu_basis = basis_of(slowest);
}
}  // namespace

void add_gpu_utilisation(const Run& run,
                         const std::vector<GpuResult>& gpus,
                         std::vector<ScalingResult>& scaling) {
  if (gpus.empty()) return;
  for (const MeasuredMode& mode : measured_modes(run)) {
    for (const MeasuredCount& count : mode.counts) {
      const SlowestProduct slowest = slowest_steady(gpus, count.precision);
      if (slowest.product == nullptr || count.precision == "fp32") continue;
      for (ScalingResult& result : scaling) {
        if (result.mode != mode.mode) continue;
        for (ScalingRow& row : result.rows) {
          if (row.ranks == count.ranks) fill(count, slowest, row);
        }
      }
    }
  }
}

namespace {
/// GPUs of one model differ by as much in good health. Source: published per-GPU tables of 8-GPU
/// nodes spread by 5 % (stas00/ml-engineering).
constexpr double normal_spread = 0.05;
constexpr double enough_explained = 0.8;
constexpr double lower_limit = 0.97;
constexpr double more_often = 0.2;
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

/// The one whose rate is the middle one (of an even number the lower), with its interval.
const Estimate<FlopPerSecond>& middle_of(std::vector<const GpuPace*> others) {
  std::ranges::sort(others, {}, [](const GpuPace* pace) { return pace->together.value; });
  return others[(others.size() - 1) / 2]->together;
}

std::string limit_difference(const std::vector<GpuPace>& paces,
                             std::size_t index,
                             const std::map<int, GpuIdentity>& identities) {
  const auto limits = beside_others(paces, index, [&](const GpuPace& pace) {
    const auto found = identities.find(pace.ordinal);
    return found == identities.end() ? std::nullopt : found->second.power_limit_w;
  });
  if (!limits || limits->own >= lower_limit * limits->others) return "";
  return fmt::format(
      "its power limit is {:.0f} W, the others' {:.0f} W", limits->own, limits->others);
}

std::string reason_difference(const std::vector<GpuPace>& paces, std::size_t index) {
  for (const auto& [reason, share] : paces[index].conditions.slowdown_reasons) {
    const auto shares = beside_others(paces, index, [name = reason](const GpuPace& pace) {
      return std::optional(share_of_reason(pace.conditions, name));
    });
    if (!shares || shares->own < shares->others + more_often) continue;
    return fmt::format("{} in {:.0f} % of the readings, the others {:.0f} %",
                       reason,
                       100.0 * share,
                       100.0 * shares->others);
  }
  return "";
}

std::string heat_difference(const std::vector<GpuPace>& paces, std::size_t index) {
  const auto heat = beside_others(
      paces, index, [](const GpuPace& pace) { return pace.conditions.temperature_c; });
  if (!heat || heat->own < heat->others + hotter_c) return "";
  return fmt::format("it is at {:.0f} C, the others at {:.0f} C", heat->own, heat->others);
}

/// The clock that explains the loss and what explains the clock; empty when the clock does not.
std::string cause_of(const std::vector<GpuPace>& paces,
                     std::size_t index,
                     const std::map<int, GpuIdentity>& identities) {
  const auto clocks =
      beside_others(paces, index, [](const GpuPace& pace) { return pace.conditions.clock_hz; });
  if (!clocks || !(clocks->own < clocks->others)) return "";
  const double explained =
      std::log(clocks->own / clocks->others) / std::log(paces[index].of_others->value);
  if (explained < enough_explained) return "";
  std::string text = fmt::format(
      "it runs at {:.0f} MHz, the others at {:.0f} MHz", clocks->own * 1e-6, clocks->others * 1e-6);
  for (const std::string& why : {limit_difference(paces, index, identities),
                                 reason_difference(paces, index),
                                 heat_difference(paces, index)}) {
    if (!why.empty()) text += "; " + why;
  }
  return text;
}

/// GPUs of one model.
void judge(std::vector<GpuPace>& paces, const std::map<int, GpuIdentity>& identities) {
  if (paces.size() < 2) return;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    std::vector<const GpuPace*> others;
    for (std::size_t j = 0; j < paces.size(); ++j) {
      if (j != i) others.push_back(&paces[j]);
    }
    GpuPace& pace = paces[i];
    const Estimate<double> share = ratio(pace.together, middle_of(others));
    pace.slow = (share.interval ? share.interval->high : share.value) < 1.0 - normal_spread;
    pace.of_others = share;
  }
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (paces[i].slow) paces[i].cause = cause_of(paces, i, identities);
  }
}

std::optional<GpuPace> pace_of(const std::vector<GpuGemm>& products,
                               const GpuIdentity& gpu,
                               std::string& precision) {
  std::optional<GpuPace> pace;
  for (const GpuGemm& gemm : products) {
    if (gemm.pass != "together") continue;
    pace = GpuPace{};
    pace->ordinal = gpu.ordinal;
    pace->together = gemm.rate;
    pace->conditions = gemm.conditions;
    precision = gemm.precision;
  }
  for (const GpuGemm& gemm : products) {
    if (!pace || gemm.pass != "alone") continue;
    pace->alone = gemm.rate;
    pace->of_alone = ratio(pace->together, gemm.rate);
  }
  return pace;
}
}  // namespace

std::optional<GpusTogether> compare_gpus(const Run& run,
                                         const std::vector<GpuResult>& gpus,
                                         std::optional<FlopPerSecond> given) {
  GpusTogether result;
  std::map<int, GpuIdentity> identities;
  std::map<std::string, std::vector<GpuPace>> by_model;
  for (const GpuResult& gpu : gpus) {
    std::vector<std::string> printed_elsewhere;
    const auto products =
        products_of(points_of_gpu(run, fields::gpu_together, gpu.identity.ordinal),
                    gpu.identity,
                    given,
                    printed_elsewhere);
    const auto pace = pace_of(products, gpu.identity, result.precision);
    identities[gpu.identity.ordinal] = gpu.identity;
    if (pace) by_model[gpu.identity.name].push_back(*pace);
  }
  for (auto& [model, paces] : by_model) {
    judge(paces, identities);
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

namespace {
constexpr const char* together_pass = "together";

/// Sizes of one direction with the median time and the rate of all directions.
struct Sizes {
  std::vector<TimedSize> times;
  std::vector<TransferPoint> points;
};
using Key = std::tuple<std::string, std::string, std::string, bool, bool>;

std::optional<int> ordinal_of(const std::string& end) {
  int ordinal = 0;
  int length = 0;
  if (std::sscanf(end.c_str(), "gpu %d%n", &ordinal, &length) != 1) return std::nullopt;
  return static_cast<std::size_t>(length) == end.size() ? std::optional(ordinal) : std::nullopt;
}

/// "peer access, 18 NVLinks through switches": 18; 0 for other paths.
int nvlinks_of(const std::string& path) {
  const auto word = path.find(" NVLink");
  if (word == std::string::npos) return 0;
  const auto before = path.find_last_not_of("0123456789", word - 1);
  int links = 0;
  return std::sscanf(path.c_str() + (before == std::string::npos ? 0 : before + 1), "%d", &links) ==
                 1
             ? links
             : 0;
}

std::optional<RawLink> peer_link(const Run& run, int from, int to, const GpuIdentity& gpu) {
  const std::string name = fmt::format("gpu_{}_gpu_{}", std::min(from, to), std::max(from, to));
  const std::string path = text_fact(run, "gpu links", name).value_or("");
  const int links = nvlinks_of(path);
  if (links > 0) {
    const auto each = number_fact(run, fmt::format("gpu {}", from), "nvlink_bytes_per_s");
    if (each) {
      return RawLink{BytesPerSecond(links * *each),
                     fmt::format("{} NVLink{}", links, links == 1 ? "" : "s")};
    }
    if (gpu.datasheet && gpu.datasheet->nvlink) {
      return RawLink{*gpu.datasheet->nvlink / 2.0, "NVLink of the datasheet"};
    }
    return std::nullopt;
  }
  const bool over_pcie = path.find("over PCIe") != std::string::npos;
  if (!over_pcie || !gpu.pcie_bandwidth) return std::nullopt;
  return RawLink{*gpu.pcie_bandwidth, "PCIe"};
}

void add_fit(const Sizes& sizes, GpuTransfer& transfer) {
  const std::vector<CommunicationFit> fits = fit_communication(sizes.times);
  if (fits.empty() || fits.front().form != form_alpha_beta) return;
  const CommunicationSegment& line = fits.front().segments.front();
  transfer.alpha = line.alpha;
  transfer.beta = line.beta;
  if (line.beta.value.value() > 0.0) {
    transfer.half_size = line.alpha.value / line.beta.value;
  }
}

/// The highest value of a series over all points.
std::optional<double> highest(const ProbeRecord& probe, const char* name) {
  std::optional<double> result;
  for (const Point& point : probe.points) {
    const auto found = point.samples.find(name);
    if (found == point.samples.end()) continue;
    for (const double value : found->second) result = std::max(result.value_or(value), value);
  }
  return result;
}

GpuTransfer transfer_of(const Key& key, Sizes sizes, const Run& run, const GpuIdentity& gpu) {
  GpuTransfer transfer;
  std::tie(transfer.source,
           transfer.target,
           transfer.engine,
           transfer.both_directions,
           transfer.together) = key;
  const double directions = transfer.both_directions ? 2.0 : 1.0;
  transfer.plateau = sizes.points.back().rate;
  add_fit(sizes, transfer);
  transfer.points = std::move(sizes.points);
  if (const auto link = link_between(run, transfer.source, transfer.target, gpu)) {
    transfer.of_link = transfer.plateau.value / (link->rate * directions);
    transfer.link = link->name;
  }
  return transfer;
}
}  // namespace

std::optional<RawLink> link_between(const Run& run,
                                    const std::string& source,
                                    const std::string& target,
                                    const GpuIdentity& gpu) {
  const auto from = ordinal_of(source);
  const auto to = ordinal_of(target);
  if (from && to) return *from == *to ? std::nullopt : peer_link(run, *from, *to, gpu);
  if (!gpu.pcie_bandwidth) return std::nullopt;
  return RawLink{*gpu.pcie_bandwidth, "PCIe"};
}

std::optional<std::string> lowered_pcie_link(const Run& run,
                                             const ProbeRecord& probe,
                                             int ordinal) {
  const std::string section = fmt::format("gpu {}", ordinal);
  const auto generation = highest(probe, fields::telemetry_pcie_generation);
  const auto width = highest(probe, fields::telemetry_pcie_width);
  const auto possible_generation = number_fact(run, section, "pcie_generation");
  const auto possible_width = number_fact(run, section, "pcie_width");
  if (!generation || !width || !possible_generation || !possible_width) return std::nullopt;
  if (*generation >= *possible_generation && *width >= *possible_width) return std::nullopt;
  return fmt::format(
      "the PCIe link was never seen above generation {:.0f} x{:.0f} while bytes moved; GPU and "
      "slot "
      "can do generation {:.0f} x{:.0f}: look at the slot, its riser and the BIOS's link settings",
      *generation,
      *width,
      *possible_generation,
      *possible_width);
}

std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu) {
  std::vector<Key> order;
  std::map<Key, std::map<double, const Point*>> groups;
  for (const Point& point : probe.points) {
    if (!byte_rate_of(point)) continue;
    const Key key{text_parameter(point, fields::source),
                  text_parameter(point, fields::target),
                  text_parameter(point, fields::engine),
                  flag_parameter(point, fields::both_directions),
                  text_of(point, fields::pass).value_or("") == together_pass};
    if (!groups.contains(key)) order.push_back(key);
    groups[key][static_cast<double>(integer_parameter(point, fields::transfer_bytes))] = &point;
  }
  // Measured in random order; reported by engine, then by ends.
  std::ranges::sort(order, {}, [](const Key& key) {
    const auto& [source, target, engine, both, together] = key;
    return std::tie(engine, together, both, target, source);
  });
  std::vector<GpuTransfer> transfers;
  for (const Key& key : order) {
    Sizes sizes;
    for (const auto& [size, point] : groups.at(key)) {
      const std::vector<double> times = usable_times(*point, fields::wall_s);
      sizes.times.push_back({Bytes(size), Seconds(*median(times))});
      sizes.points.push_back({Bytes(size), *byte_rate_of(*point)});
    }
    transfers.push_back(transfer_of(key, std::move(sizes), run, gpu));
  }
  return transfers;
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
