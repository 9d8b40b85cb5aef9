// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline.h"

#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"
#include "src/core/statistics/sampling.h"

#include <cmath>
#include <map>
#include <set>

namespace scaleworth::model {
namespace {
/// Below this ratio of thread-CPU time to wall time of all workers, foreign work took part of the
/// cores. Source: sampled on a shared two-core machine, undisturbed repetitions stay above 0.99.
constexpr double contended_below = 0.98;
// Of a bound, presumed: clocks and ceilings are measured to some per cent. Lower warnings sound
// results, higher lets those pass that were taken under another clock.
constexpr double impossible_share = 1.05;
constexpr double impossible_above = 1.05;

bool usable(double time) {
  return std::isfinite(time) && time > 0.0;
}

/// Of one repetition.
struct WallAndCpu {
  double wall;
  double cpu;  // thread-CPU time of all workers
  int run;
};

/// Of the usable repetitions; absent without a series of CPU times.
std::optional<std::vector<WallAndCpu>> wall_and_cpu(const Point& point) {
  const Series* cpu = value_at(point.samples, Metric::cpu_s);
  if (!cpu || cpu->empty()) return std::nullopt;
  const Series& wall = series(point, Metric::wall_s);
  std::vector<WallAndCpu> times;
  for (std::size_t i = 0; i < std::min(wall.size(), cpu->size()); ++i) {
    const WallAndCpu one{wall[i], (*cpu)[i], wall.run(i)};
    if (usable(one.wall) && usable(one.cpu)) times.push_back(one);
  }
  return times;
}

PlacedGemm describe(const Point& point) {
  PlacedGemm gemm;
  gemm.family = symbol_parameter<ProductFamily>(point, Parameter::family);
  gemm.format.precision = symbol_parameter<NumberFormat>(point, Parameter::precision);
  gemm.library = text_parameter(point, Parameter::library);
  gemm.shape = {integer_parameter(point, Parameter::m),
                integer_parameter(point, Parameter::n),
                integer_parameter(point, Parameter::k),
                integer_parameter(point, Parameter::batch)};
  gemm.workers = count_parameter(point, Parameter::workers);
  gemm.name = point.setting.text(Parameter::name);
  return gemm;
}

void warn_if_impossible(const PlacedGemm& gemm, FlopPerSecond bound, RooflineResult& result) {
  if (gemm.rate.low() / bound <= impossible_above) return;
  result.warnings.emplace_back(FindingId::gemm_above_roof,
                               gemm.library,
                               word_of(gemm.format),
                               gemm.shape.m,
                               gemm.shape.n,
                               gemm.shape.k,
                               gemm.workers,
                               gemm.fraction);
}

/// Undisturbed wall times; under contention thread-CPU times, but only of one worker: with more, a
/// thread that sleeps for lack of work is no different from one that was held up.
Repetitions gemm_times(const Point& point, int workers) {
  Repetitions repetitions = undisturbed(point, workers);
  if (!repetitions.contended || workers == 1) return repetitions;
  return {usable_times(point, Metric::wall_s), true};
}

/// Under the best FMA ceiling of the same precision and worker count, and the fastest streaming
/// rate over a working set as large as the operands: operands that fit a cache are held against
/// that cache. A rate whose whole interval lies more than 5 % above the roof with the next smaller
/// working set's bandwidth is named in `warnings`.
void place_gemms(const ProbeRecord& probe, RooflineResult& result) {
  std::set<std::pair<std::string, int>> unplaced;  // formats and workers
  std::size_t starved = 0;
  for (const Point& point : probe.points) {
    PlacedGemm gemm = describe(point);
    const Repetitions repetitions = gemm_times(point, gemm.workers);
    if (repetitions.times_s.empty()) continue;
    starved += repetitions.contended ? 1 : 0;
    const ComputeCeiling* best =
        fastest_ceiling(result.ceilings, gemm.format.precision, gemm.workers);
    if (best == nullptr) {
      unplaced.emplace(word_of(gemm.format), gemm.workers);
      continue;
    }
    const double flops = amount(point, Metric::flops);
    const Bytes operands(amount(point, Metric::bytes));
    gemm.intensity = Flops(flops) / operands;
    gemm.rate = as<FlopPerSecond>(rate_estimate(flops, repetitions.times_s));
    const FlopPerSecond bound = place_under(best->ceiling().value, result.memory, operands, gemm);
    warn_if_impossible(gemm, bound, result);
    result.gemms.push_back(std::move(gemm));
  }
  if (starved > 0) result.warnings.emplace_back(FindingId::gemms_starved, starved);
  for (const auto& [format, workers] : unplaced)
    result.warnings.emplace_back(FindingId::gemm_not_placed, format, workers);
}
}  // namespace

FlopPerByte intensity_of(const GemmShape& shape, NumberFormat format) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return Flops(2.0 * m * n * k) /
         Bytes(element_bytes(format) * k * (m + n) + output_element_bytes(format) * m * n);
}

Bound bound_by_peaks(FlopPerByte intensity, FlopPerByte ridge) {
  // Where both bounds cost alike (either alone leaves over 60 %) neither is named. Presumed.
  constexpr double near = 1.0 / 0.6;
  if (intensity > ridge * near) return Bound::compute;
  return intensity < ridge / near ? Bound::memory : Bound::ridge;
}

std::optional<ComputeCeiling> compute_ceiling(const Point& point, std::vector<Finding>& warnings) {
  ComputeCeiling ceiling;
  ceiling.isa = symbol_parameter<Isa>(point, Parameter::isa);
  ceiling.precision = symbol_parameter<NumberFormat>(point, Parameter::precision);
  ceiling.workers = count_parameter(point, Parameter::workers);
  const Series wall = usable_times(point, Metric::wall_s);
  if (wall.empty()) return std::nullopt;
  const double flops = amount(point, Metric::flops);
  ceiling.wall_rate = as<FlopPerSecond>(rate_estimate(flops, wall));
  if (point.samples.contains(Metric::cpu_s)) {
    Series cpu = usable_times(point, Metric::cpu_s);
    if (cpu.empty()) return std::nullopt;
    for (double& time : cpu) time /= ceiling.workers;
    ceiling.cpu_rate = as<FlopPerSecond>(rate_estimate(flops, cpu));
    std::vector<double> shares;
    const auto measured = wall_and_cpu(point);
    for (const WallAndCpu& one : *measured)
      shares.push_back(one.cpu / (ceiling.workers * one.wall));
    ceiling.cpu_share = median(shares);
  }
  const double share = ceiling.cpu_share.value_or(1.0);
  ceiling.contended = share < contended_below;
  if (ceiling.contended || share > impossible_share)
    warnings.emplace_back(
        ceiling.contended ? FindingId::kernel_contended : FindingId::kernel_suspect,
        word_of(ceiling.isa),
        word_of(ceiling.precision),
        ceiling.workers,
        share);
  return ceiling;
}

const ComputeCeiling* fastest_ceiling(std::span<const ComputeCeiling> ceilings,
                                      NumberFormat precision,
                                      int workers) {
  const ComputeCeiling* best = nullptr;
  for (const ComputeCeiling& ceiling : ceilings) {
    if (ceiling.precision != precision || ceiling.workers != workers) continue;
    if (best == nullptr || ceiling.ceiling().value > best->ceiling().value) best = &ceiling;
  }
  return best;
}

std::optional<double> amount_of(const Point& point, Metric metric) {
  const double* found = value_at(point.amounts, metric);
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<double> number_fact(const Run& run,
                                  const std::string& section,
                                  const std::string& name) {
  const Fact* fact = find_fact(run, section, name);
  if (fact == nullptr || !fact->value) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&*fact->value)) {
    return static_cast<double>(*whole);
  }
  const auto* real = std::get_if<double>(&*fact->value);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

std::string text_fact(const Run& run, const std::string& section, const std::string& name) {
  const Fact* fact = find_fact(run, section, name);
  const auto* text = fact && fact->value ? std::get_if<std::string>(&*fact->value) : nullptr;
  return text == nullptr ? "" : *text;
}

Series usable_times(const Point& point, Metric metric) {
  const Series& all = series(point, metric);
  Series times;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (usable(all[i])) times.add(all[i], all.run(i));
  return times;
}

Repetitions undisturbed(const Point& point, int workers) {
  const auto times = wall_and_cpu(point);
  if (!times) return {usable_times(point, Metric::wall_s), false};
  Series calm;
  Series cpu_per_worker;
  for (const auto& [wall, cpu, run] : *times) {
    cpu_per_worker.add(cpu / workers, run);
    if (cpu_per_worker.back() >= contended_below * wall) calm.add(wall, run);
  }
  if (calm.size() == cpu_per_worker.size() || calm.size() >= fewest_samples) return {calm, false};
  return {cpu_per_worker, true};
}

void warn_contended(const char* kind, std::size_t contended, std::vector<Finding>& warnings) {
  if (contended == 0) return;
  warnings.emplace_back(
      contended == 1 ? FindingId::point_contended : FindingId::points_contended, kind, contended);
}

Estimate<double> rate_estimate(double amount, const Series& times) {
  return transform_decreasing(series_estimate(times), [=](double time) { return amount / time; });
}

Series rates(double amount, Series times) {
  for (double& time : times) time = amount / time;
  return times;
}

FlopPerSecond place_under(FlopPerSecond ceiling,
                          std::span<const MemoryPoint> memory,
                          Bytes footprint,
                          PlacedGemm& gemm) {
  gemm.roof = ceiling;
  FlopPerSecond most = ceiling;
  if (const auto bandwidth = bandwidth_at(memory, gemm.workers, footprint)) {
    gemm.bandwidth = bandwidth->likely;
    gemm.roof = std::min(ceiling, bandwidth->likely * gemm.intensity);
    most = std::min(ceiling, bandwidth->bound * gemm.intensity);
    gemm.bound = gemm.roof == ceiling ? Bound::compute
                 : most < ceiling     ? Bound::memory
                                      : Bound::ridge;
  }
  gemm.fraction = gemm.rate.value / gemm.roof;
  return most;
}

std::optional<RooflineResult> analyse_roofline(const Run& run,
                                               const std::vector<CacheCapacity>& caches) {
  RooflineResult result;
  bool any = false;
  const auto with = [&](const char* name, auto analyse) {
    const ProbeRecord* probe = find_probe(run, name);
    if (probe == nullptr || probe->points.empty()) return;
    any = true;
    analyse(*probe);
  };
  // The order matters: GEMMs are placed under the ceilings and bandwidths found before.
  with(probe_name::roofline_compute, [&](const ProbeRecord& probe) {
    for (const Point& point : probe.points) {
      auto ceiling = compute_ceiling(point, result.warnings);
      if (ceiling) result.ceilings.push_back(std::move(*ceiling));
    }
  });
  with(probe_name::roofline_memory,
       [&](const ProbeRecord& probe) { analyse_memory(probe, caches, result); });
  with(probe_name::roofline_latency,
       [&](const ProbeRecord& probe) { analyse_latency(probe, caches, result); });
  with(probe_name::roofline_gemm, [&](const ProbeRecord& probe) { place_gemms(probe, result); });
  if (!any) return std::nullopt;
  return result;
}
}  // namespace scaleworth::model
