// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/placement.h"

#include "src/core/run/fields.h"
#include "src/model/roofline/ceilings.h"
#include "src/model/roofline/memory.h"
#include "src/model/roofline/samples.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double impossible_above = 1.05;

PlacedGemm describe(const Point& point) {
  PlacedGemm gemm;
  gemm.family = text_parameter(point, fields::family);
  gemm.precision = text_parameter(point, fields::precision);
  gemm.library = text_parameter(point, fields::library);
  gemm.m = integer_parameter(point, fields::m);
  gemm.n = integer_parameter(point, fields::n);
  gemm.k = integer_parameter(point, fields::k);
  gemm.batch = integer_parameter(point, fields::batch);
  gemm.workers = static_cast<int>(integer_parameter(point, fields::workers));
  return gemm;
}

void warn_if_impossible(const PlacedGemm& gemm, FlopPerSecond bound, RooflineResult& result) {
  const FlopPerSecond least = gemm.rate.interval ? gemm.rate.interval->low : gemm.rate.value;
  if (least / bound <= impossible_above) return;
  result.warnings.push_back(fmt::format(
      "{} {} GEMM {} x {} x {} with {} workers reaches {:.0f} % of its roof: suspect; the "
      "ceiling or the bandwidth was measured too low (contention, frequency)",
      gemm.library,
      gemm.precision,
      gemm.m,
      gemm.n,
      gemm.k,
      gemm.workers,
      100.0 * gemm.fraction));
}

/// Undisturbed wall times; under contention thread-CPU times, but only of one worker: with more, a
/// thread that sleeps for lack of work is no different from one that was held up.
Repetitions gemm_times(const Point& point, int workers) {
  Repetitions repetitions = undisturbed(point, workers);
  if (repetitions.contended && workers > 1) {
    repetitions.times_s = usable_times(point, fields::wall_s);
  }
  return repetitions;
}

}  // namespace

void hold_against(FlopPerSecond ceiling, PlacedGemm& gemm) {
  gemm.roof = ceiling;
  bool memory_side = false;
  if (gemm.bandwidth) {
    const FlopPerSecond slope = *gemm.bandwidth * gemm.intensity;
    memory_side = slope < ceiling;
    gemm.roof = std::min(ceiling, slope);
  }
  gemm.fraction = gemm.rate.value / gemm.roof;
  if (gemm.fraction >= bound_above) gemm.bound = memory_side ? Bound::memory : Bound::compute;
}

void place_gemms(const ProbeRecord& probe, RooflineResult& result) {
  std::set<std::string> unplaced;
  std::size_t starved = 0;
  for (const Point& point : probe.points) {
    PlacedGemm gemm = describe(point);
    const Repetitions repetitions = gemm_times(point, gemm.workers);
    if (repetitions.times_s.empty()) continue;
    starved += repetitions.contended ? 1 : 0;
    const auto ceiling = best_ceiling(result.ceilings, gemm.precision, gemm.workers);
    if (!ceiling) {
      unplaced.insert(fmt::format(
          "{} GEMM with {} workers not placed: no FMA ceiling of that precision and worker count",
          gemm.precision,
          gemm.workers));
      continue;
    }
    const double flops = amount(point, fields::flops);
    const Bytes operands(amount(point, fields::bytes));
    gemm.intensity = Flops(flops) / operands;
    gemm.rate = transform(rate_estimate(flops, repetitions.times_s),
                          [](double rate) { return FlopPerSecond(rate); });
    const auto bandwidth = bandwidth_at(result.memory, gemm.workers, operands);
    if (bandwidth) gemm.bandwidth = bandwidth->likely;
    hold_against(*ceiling, gemm);
    const FlopPerSecond bound =
        bandwidth ? std::min(*ceiling, bandwidth->bound * gemm.intensity) : *ceiling;
    warn_if_impossible(gemm, bound, result);
    result.gemms.push_back(std::move(gemm));
  }
  if (starved > 0) {
    result.warnings.push_back(
        fmt::format("{} GEMM point{} fewer than 98 % of the workers' time on the cores: other "
                    "work, or too little "
                    "parallelism",
                    starved,
                    starved == 1 ? " had" : "s had"));
  }
  result.warnings.insert(result.warnings.end(), unplaced.begin(), unplaced.end());
}

}  // namespace scaleworth::model
