// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/ceilings.h"

#include "src/core/run/fields.h"
#include "src/core/statistics/quantile.h"
#include "src/model/roofline/samples.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr double impossible_share = 1.05;

Estimate<FlopPerSecond> flop_rate(double flops, std::span<const double> times) {
  return transform(rate_estimate(flops, times), [](double rate) { return FlopPerSecond(rate); });
}

std::string describe_kernel(const ComputeCeiling& ceiling) {
  return fmt::format("{} {} FMA with {} worker{}",
                     ceiling.isa,
                     ceiling.precision,
                     ceiling.workers,
                     ceiling.workers == 1 ? "" : "s");
}

}  // namespace

std::vector<ComputeCeiling> compute_ceilings(const ProbeRecord& probe,
                                             std::vector<std::string>& warnings) {
  std::vector<ComputeCeiling> ceilings;
  for (const Point& point : probe.points) {
    ComputeCeiling ceiling;
    ceiling.isa = text_parameter(point, fields::isa);
    ceiling.precision = text_parameter(point, fields::precision);
    ceiling.workers = static_cast<int>(integer_parameter(point, fields::workers));
    const double flops = amount(point, fields::flops);
    const std::vector<double> wall = usable_times(point, fields::wall_s);
    if (wall.empty()) continue;
    ceiling.wall_rate = flop_rate(flops, wall);
    if (point.samples.contains(fields::cpu_s)) {
      std::vector<double> cpu = usable_times(point, fields::cpu_s);
      if (cpu.empty()) continue;
      for (double& time : cpu) time /= ceiling.workers;
      ceiling.cpu_rate = flop_rate(flops, cpu);
      ceiling.cpu_share = median(cpu_shares(point, ceiling.workers));
    }
    const double share = ceiling.cpu_share.value_or(1.0);
    ceiling.contended = share < contended_below;
    if (ceiling.contended) {
      warnings.push_back(fmt::format(
          "{}: contended, its threads had {:.0f} % of the time; the rate per thread-CPU-second is "
          "the ceiling",
          describe_kernel(ceiling),
          100.0 * share));
    } else if (share > impossible_share) {
      warnings.push_back(fmt::format("{}: suspect, {:.2f} CPU seconds per worker and wall second",
                                     describe_kernel(ceiling),
                                     share));
    }
    ceilings.push_back(std::move(ceiling));
  }
  return ceilings;
}

std::optional<FlopPerSecond> best_ceiling(std::span<const ComputeCeiling> ceilings,
                                          const std::string& precision,
                                          int workers) {
  std::optional<FlopPerSecond> best;
  for (const ComputeCeiling& ceiling : ceilings) {
    if (ceiling.precision != precision || ceiling.workers != workers) continue;
    const FlopPerSecond rate = ceiling.ceiling().value;
    best = best ? std::max(*best, rate) : rate;
  }
  return best;
}

}  // namespace scaleworth::model
